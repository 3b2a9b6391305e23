"""Certificate authority of one run: certificates for the indexes whose https ends with the proxy.

Programs of that run believe it, and nobody else ever does. Its keys never leave our side.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import re
import ssl
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

_NAME = "Onefold, for one run"
_LIFETIME = datetime.timedelta(days=1)
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----\n.*?\n-----END CERTIFICATE-----", re.DOTALL)


class Authority:
    """Authority with its files in *folder*; *believed* are files with others that count too.

    `bundle` is all that a program is to believe, `java_bundle` the same for Java; neither holds
    a key.
    """

    def __init__(self, folder: Path, believed: Sequence[Path] = ()) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec

        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._server_key = ec.generate_private_key(ec.SECP256R1())
        self._certificate = self._sign(_NAME, self._key.public_key(), None)
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._lock = threading.Lock()
        self.bundle = folder / "certificates.pem"
        self.java_bundle = folder / "certificates.jks"
        self._write_bundles(believed)

    def server_context(self, host: str) -> ssl.SSLContext:
        """Return what lets us answer as *host*."""
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = self._make_context(host)
            return self._contexts[host]

    def _make_context(self, host: str) -> ssl.SSLContext:
        from cryptography.hazmat.primitives import serialization as to

        certificate = self._sign(host, self._server_key.public_key(), host)
        key = self._server_key.private_bytes(
            to.Encoding.PEM, to.PrivateFormat.PKCS8, to.NoEncryption()
        )
        path = self._folder / "server.pem"
        path.touch(mode=0o600)
        try:
            path.write_bytes(key + certificate.public_bytes(to.Encoding.PEM))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(path)
        finally:
            path.unlink()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def _sign(self, name: str, key: EllipticCurvePublicKey, host: str | None) -> x509.Certificate:
        """Return the certificate of the server *host*, or with None our own."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes
        from cryptography.x509.oid import NameOID

        def named(text: str) -> x509.Name:
            return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])

        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(_NAME))
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _LIFETIME)
            .not_valid_after(now + _LIFETIME)
            .add_extension(x509.BasicConstraints(ca=host is None, path_length=None), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False
            )
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), False)
        )
        if host is not None:
            builder = builder.add_extension(_alternative_name(host), False)
        return builder.sign(self._key, hashes.SHA256())

    def _write_bundles(self, believed: Sequence[Path]) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding

        own = self._certificate.public_bytes(Encoding.PEM).decode()
        text = "\n".join([own, *_read_all(believed)])
        self.bundle.write_text(text)
        self.java_bundle.write_bytes(_java_store(_PEM.findall(text)))


def _alternative_name(host: str) -> x509.SubjectAlternativeName:
    from cryptography import x509

    try:
        return x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
    except ValueError:
        return x509.SubjectAlternativeName([x509.DNSName(host)])


def _java_store(certificates: Iterable[str]) -> bytes:
    """Return a store that Java reads (JKS, version 2) with *certificates* and no password."""
    entries = [
        b"".join(
            (
                struct.pack(">I", 2),  # a certificate that is believed
                _java_text(f"certificate-{number}"),
                struct.pack(">Q", 0),  # made at no time
                _java_text("X.509"),
                struct.pack(">I", len(data)),
                data,
            )
        )
        for number, data in enumerate(map(ssl.PEM_cert_to_DER_cert, certificates))
    ]
    store = struct.pack(">III", 0xFEEDFEED, 2, len(entries)) + b"".join(entries)
    return store + hashlib.sha1(b"Mighty Aphrodite" + store).digest()  # noqa: S324 - its checksum


def _java_text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _read_all(believed: Sequence[Path]) -> Iterator[str]:
    """Yield the certificates that this machine believes, and those of *believed* that exist."""
    system = ssl.get_default_verify_paths().cafile
    candidates = [Path(path) for path in (system, *_BUNDLES) if path]
    for path in (*[path for path in candidates if path.is_file()][:1], *believed):
        with suppress(OSError):
            yield path.read_text("ascii", "replace")
