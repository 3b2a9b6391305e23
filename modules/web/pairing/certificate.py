"""The server's certificate, made by itself and known by its fingerprint.

A root signs it whose key is forgotten at once. So a phone can be told to trust that root, which
browsers ask of an app that is installed, and nobody can ever sign anything else with it.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import ssl
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from utils.i18n import UserError, phrase
from utils.system.atomic_write import write_atomically

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

_BEGIN = b"-----BEGIN CERTIFICATE-----"
_DAYS = 800
"""Days that it is good for: phones take no certificate of a root of ours for more than 825."""
_LAST_DAYS = 30
"""Days before its end in which a start makes a new one."""


@dataclass(frozen=True, kw_only=True)
class ServerCertificate:
    """A certificate with its key, and the root that signed it; all of it PEM."""

    pem: bytes
    root: bytes

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the certificate as browsers show it: pairs of digits with colons."""
        der = ssl.PEM_cert_to_DER_cert(_certificate_text(self.pem))
        return hashlib.sha256(der).digest().hex(":").upper()

    def context(self) -> ssl.SSLContext:
        """Return what lets a server answer with it."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        with tempfile.NamedTemporaryFile() as file:  # readable by its owner only
            file.write(self.pem)
            file.flush()
            context.load_cert_chain(file.name)
        return context


def kept_certificate(folder: Path, names: Sequence[str]) -> ServerCertificate:
    """Return the certificate kept in *folder*, which is good for *names*: hosts and addresses.

    A new one is made where there is none, or it lacks one of them, or ends soon. Raises
    `UserError`.
    """
    file = folder / "server.pem"
    try:
        kept = _read(file)
        if kept and _is_good(kept, names):
            return kept
        made = _make(names)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(file, made.pem + made.root)
    except OSError as error:
        why = error.strerror or str(error)
        raise UserError(
            phrase("Cannot read or save {path}: {why}.", path=str(file), why=why)
        ) from None
    return made


def _read(file: Path) -> ServerCertificate | None:
    """Return what *file* holds: the key, the certificate and its root; None if it does not."""
    try:
        parts = file.read_bytes().split(_BEGIN)
    except FileNotFoundError:
        return None
    if len(parts) != 3:
        return None
    return ServerCertificate(pem=parts[0] + _BEGIN + parts[1], root=_BEGIN + parts[2])


def _is_good(kept: ServerCertificate, names: Sequence[str]) -> bool:
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificate(_certificate_text(kept.pem).encode())
        kept.context()
        said = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound, ssl.SSLError):
        return False
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=_LAST_DAYS)
    return certificate.not_valid_after_utc > soon and {*map(_name, names)} <= {*said}


def _certificate_text(pem: bytes) -> str:
    """Return the first certificate in *pem*, without the key before it."""
    return (_BEGIN + pem.split(_BEGIN)[1]).decode("ascii", "replace")


def _make(names: Sequence[str]) -> ServerCertificate:
    from cryptography.hazmat.primitives import serialization as to
    from cryptography.hazmat.primitives.asymmetric import ec

    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root = _signed(f"{names[0]}, root", root_key, root_key, None, names)
    certificate = _signed(names[0], key, root_key, root, names)
    private = key.private_bytes(to.Encoding.PEM, to.PrivateFormat.PKCS8, to.NoEncryption())
    return ServerCertificate(
        pem=private + certificate.public_bytes(to.Encoding.PEM),
        root=root.public_bytes(to.Encoding.PEM),
    )


def _signed(
    title: str,
    key: EllipticCurvePrivateKey,
    root_key: EllipticCurvePrivateKey,
    root: x509.Certificate | None,
    names: Sequence[str],
) -> x509.Certificate:
    """Return the certificate of *names* by *root*, or with None the root itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title[:64])])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(root.subject if root else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
        .add_extension(x509.BasicConstraints(ca=not root, path_length=None if root else 0), True)
        .add_extension(_usage(is_root=not root), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False
        )
    )
    if root:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([*map(_name, names)]), False
        ).add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
    return builder.sign(root_key, hashes.SHA256())


def _usage(*, is_root: bool) -> x509.KeyUsage:
    from cryptography import x509

    unused = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    return x509.KeyUsage(
        digital_signature=not is_root,
        key_cert_sign=is_root,
        **dict.fromkeys((*unused, "crl_sign", "encipher_only", "decipher_only"), False),
    )


def _name(name: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
