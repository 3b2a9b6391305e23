"""System packages that the tests need; `python3 -m tests.system_packages` names the missing ones.

Standard library only: this is asked before the environment is made.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

PROGRAMS = {
    "bwrap": "bubblewrap",
    "chromium": "chromium",
    "chromium-headless-shell": "chromium-headless-shell",
    "fish": "fish",
    "git": "git",
    "git-lfs": "git-lfs",
    "node": "nodejs",
    "rg": "ripgrep",
    "soffice": "libreoffice-impress-nogui",
    "tesseract": "tesseract-ocr",
    "tmux": "tmux",
    "zsh": "zsh",
}
"""Each program that the tests start, and the package of Debian that has it."""
FONT = "fonts-noto-cjk"


def missing_packages() -> list[str]:
    """Return the packages of Debian that the tests need and that are not here."""
    packages = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
    return packages if _has_chinese_font() else [*packages, FONT]


def _has_chinese_font() -> bool:
    if shutil.which("fc-list") is None:
        return False
    listed = ["fc-list", ":lang=zh", "family"]
    return bool(subprocess.run(listed, stdout=subprocess.PIPE, check=False).stdout.strip())


if __name__ == "__main__":
    sys.stdout.write("".join(f"{package}\n" for package in missing_packages()))
