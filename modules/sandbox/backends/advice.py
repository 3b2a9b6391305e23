"""Advice on what to install or switch for a better tier, from a failure of bubblewrap."""

from __future__ import annotations

import platform
from pathlib import Path

from utils.i18n import Phrase, phrase

_INSTALL_COMMANDS = {
    "debian": "sudo apt install bubblewrap",
    "ubuntu": "sudo apt install bubblewrap",
    "fedora": "sudo dnf install bubblewrap",
    "rhel": "sudo dnf install bubblewrap",
    "arch": "sudo pacman -S bubblewrap",
    "suse": "sudo zypper install bubblewrap",
    "opensuse": "sudo zypper install bubblewrap",
    "alpine": "sudo apk add bubblewrap",
}


_ALLOW_IN_APPARMOR = (
    "sudo apt install apparmor-profiles && sudo cp "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
    "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
)


def advice_for(failure: str) -> Phrase:
    """Return the advice for *failure*, what bubblewrap said; "" means that it is not there.

    The command to type, if there is one, is the value `command` of the phrase.
    """
    if not failure:
        return _install()
    if "Unknown option" in failure:
        return phrase("This bubblewrap is too old; version 0.8 or newer is needed.")
    if "uid map: Permission denied" in failure or "RTM_NEWADDR" in failure:
        return phrase(
            "AppArmor stops bubblewrap here. On Ubuntu 24.04: {command}",
            command=_ALLOW_IN_APPARMOR,
        )
    if "mount proc" in failure:
        return phrase(
            "This container hides parts of /proc; start it with {command}.",
            command="podman run --security-opt unmask=ALL | "
            "docker run --security-opt systempaths=unconfined",
        )
    if "namespace" in failure or "Failed to make / slave" in failure:
        return _allow_namespaces()
    return phrase("bubblewrap does not work here: {said}", said=failure.splitlines()[0][:200])


def _install() -> Phrase:
    if platform.system() != "Linux":
        return phrase("Programs are best confined on Linux; use a Linux machine or container.")
    commands = [_INSTALL_COMMANDS[name] for name in _distributions() if name in _INSTALL_COMMANDS]
    everywhere = " | ".join(dict.fromkeys(_INSTALL_COMMANDS.values()))
    return phrase("Install bubblewrap: {command}", command=commands[0] if commands else everywhere)


def _allow_namespaces() -> Phrase:
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return phrase(
            "This container does not allow user namespaces; start it with {command}, or a "
            "profile that allows them.",
            command="--security-opt seccomp=unconfined",
        )
    return phrase(
        "User namespaces are switched off here; on Debian and Ubuntu: {command}",
        command="sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000",
    )


def _distributions() -> list[str]:
    """Return the names of this distribution and of those it is like."""
    try:
        known = platform.freedesktop_os_release()
    except OSError:
        return []
    return [known["ID"], *known.get("ID_LIKE", "").split()]
