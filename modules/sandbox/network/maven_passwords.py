"""Passwords of maven that are encrypted, as `settings-security.xml` of the person opens them.

Maven 3 and older: AES in CBC mode, its key from SHA-256 of the password above it and a salt.
"""

from __future__ import annotations

import base64
import hashlib
import re

from modules.sandbox.network.own_config import OwnConfig

_ENCRYPTED = re.compile(r"(?<!\\)\{([^{}]*[^\\])\}")  # remarks may stand around it
_MASTER_KEY = "settings.security"
"""What every maven encrypts the master password with."""
_SALT_BYTES = 8
_BLOCK_BYTES = 16
_SECURITY = re.compile(r"<(master|relocation)>\s*(.*?)\s*</\1>", re.DOTALL)
_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)


def is_encrypted(password: str) -> bool:
    return _ENCRYPTED.search(password) is not None


def decrypt(own: OwnConfig, password: str) -> str | None:
    """Return what maven makes of the encrypted *password*, None if that cannot be read here."""
    master = _master(own)
    clear = _decrypt(master, _MASTER_KEY) if master else None
    return _decrypt(password, clear) if clear else None


def _master(own: OwnConfig) -> str:
    """Return the encrypted master password, "" if there is none; one file may name another."""
    found = _said(own.read(".m2/settings-security.xml"))
    if place := found.get("relocation"):
        found = _said(own.read(place.replace("${user.home}", str(own.home)).removeprefix("~/")))
    return found.get("master", "")


def _said(text: str) -> dict[str, str]:
    return dict(_SECURITY.findall(_REMARK.sub("", text)))


def _decrypt(text: str, key: str) -> str | None:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    match = _ENCRYPTED.search(text)
    try:
        data = base64.b64decode(match[1], validate=True) if match else b""
    except ValueError:  # not base64, or not even ASCII
        return None
    if len(data) <= _SALT_BYTES + _BLOCK_BYTES:
        return None
    salt, filling = data[:_SALT_BYTES], data[_SALT_BYTES]
    packed = data[_SALT_BYTES + 1 : len(data) - filling]
    if not packed or len(packed) % _BLOCK_BYTES:
        return None
    digest = hashlib.sha256(key.encode() + salt).digest()
    decryptor = Cipher(algorithms.AES(digest[:16]), modes.CBC(digest[16:])).decryptor()
    return _unpadded(decryptor.update(packed) + decryptor.finalize())


def _unpadded(data: bytes) -> str | None:
    """Return the text in *data*; a wrong key shows by the padding, or by what is no text."""
    count = data[-1]
    if not 1 <= count <= _BLOCK_BYTES or data[-count:] != bytes([count]) * count:
        return None
    try:
        return data[:-count].decode()
    except UnicodeDecodeError:
        return None
