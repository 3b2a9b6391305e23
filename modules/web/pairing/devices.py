"""The devices that were let in: kept, listed, and taken back.

A device holds two secrets: a cookie, and a key that only our own page reads (see `http.auth`). What
is kept of them are hashes, so that nobody comes in by what stands in the file.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from utils.system.shared_file import SharedFile, Stamp
from utils.text.strict_json import read_json

DEVICE_DAYS = 90
"""Days after which a device has to be paired again."""
MAX_DEVICES = 32
"""Devices that are kept; the one paired first goes when there are more."""
_BROWSERS = {
    "Edg": "Edge",
    "OPR": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
_SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Macintosh": "Mac",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


@dataclass(frozen=True, kw_only=True)
class Device:
    """One device; *paired* in seconds since 1970, the rest are names and hashes."""

    id: str
    name: str
    paired: int
    cookie: str
    key: str


@dataclass(frozen=True, kw_only=True)
class DeviceAccess:
    """What a device is handed when it is paired, and proves itself by."""

    device: Device
    cookie: str
    key: str


class PairedDevices:
    """The devices in the file *path*, which all servers of a person share.

    A file that is damaged names no device: nobody comes in by it. *clock* tells seconds since 1970.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._file = SharedFile(path)
        self._clock = clock
        self._read: tuple[Stamp | None, tuple[Device, ...]] = (None, ())

    def all(self) -> tuple[Device, ...]:
        """Return the devices that may come in, as paired. Raises `UserError`."""
        stamp = self._file.stamp()
        known_stamp, devices = self._read  # at once: another thread may be at it
        if stamp is None or stamp != known_stamp:
            devices = _parsed(self._file.read())
            self._read = (stamp, devices)
        oldest = self._clock() - DEVICE_DAYS * 86_400
        return tuple(device for device in devices if device.paired > oldest)

    def add(self, agent: str) -> DeviceAccess:
        """Keep a device with secrets of its own, named after *agent*. Raises `UserError`."""
        cookie, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        device = Device(
            id=secrets.token_hex(8),
            name=device_name(agent),
            paired=int(self._clock()),
            cookie=_hash(cookie),
            key=_hash(key),
        )
        self._change(lambda devices: (*devices, device)[-MAX_DEVICES:])
        return DeviceAccess(device=device, cookie=cookie, key=key)

    def remove(self, device_id: str) -> bool:
        """Forget a device; return whether there was one. Raises `UserError`."""
        is_there = any(device.id == device_id for device in self.all())
        self._change(lambda devices: tuple(one for one in devices if one.id != device_id))
        return is_there

    def by_cookie(self, cookie: str) -> Device | None:
        """Return the device that *cookie* was given to. Raises `UserError`."""
        presented = _hash(cookie)
        found = [one for one in self.all() if hmac.compare_digest(one.cookie, presented)]
        return found[0] if found else None

    def _change(self, change: Callable[[tuple[Device, ...]], tuple[Device, ...]]) -> None:
        self._file.change(lambda text: _written(change(_parsed(text))))


def is_key_of(device: Device, key: str) -> bool:
    """Return whether *key* is the one that *device* was given."""
    return hmac.compare_digest(device.key, _hash(key))


def device_name(agent: str) -> str:
    """Return the name of a browser and its system, by its `User-Agent`."""
    browser = next((name for mark, name in _BROWSERS.items() if f"{mark}/" in agent), "")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    return ", ".join(filter(None, (browser, system))) or _plain(agent) or "?"


def _plain(agent: str) -> str:
    """Return the first word of *agent*: whoever comes in chose it."""
    found = re.match(r"[\w. -]{1,40}", agent, re.ASCII)
    return found[0].strip() if found else ""


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _parsed(text: bytes) -> tuple[Device, ...]:
    try:
        rows: Any = read_json(text)["devices"] if text.strip() else []
        return tuple(_device(row) for row in rows)
    except (ValueError, KeyError, TypeError):
        return ()


def _device(row: Any) -> Device:
    """Return the device of *row*. Raises `KeyError`, `TypeError` or `ValueError`."""
    names = ("id", "name", "cookie", "key")
    if not all(isinstance(row[name], str) for name in names):
        raise ValueError("no text")
    return Device(paired=int(row["paired"]), **{name: row[name] for name in names})


def _written(devices: tuple[Device, ...]) -> bytes:
    return json.dumps({"devices": [asdict(one) for one in devices]}, indent=1).encode()
