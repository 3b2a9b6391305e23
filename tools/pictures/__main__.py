"""Draws the pictures of the README into `docs/`, or into the folder named: `make pictures`.

All are of the real program with its practice model, at work in a small project made for them: the
terminal in tmux (`recording.webp`), the page in Chromium (`browser.png`, `browser-dark.png` and
`phone.png`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tools.pictures.page import ROOT, take_page
from tools.pictures.terminal import take_recording


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=options)
        take_recording(browser, folder / "recording.webp")
        take_page(browser, folder)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
