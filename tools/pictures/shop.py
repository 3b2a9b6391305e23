"""The small project in which the pictures are taken, and what is asked for in it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIX = 'in shop/cart.py replace "+= price" with "+= price * count", then run check.py'
WRITE = 'make docs/prices.md with "Prices are in cents."'
CART = '''\
"""What a customer wants to buy."""


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price, count=1):
        self.items.append((name, price, count))

    def total(self):
        """Return the sum in cents."""
        total = 0
        for name, price, count in self.items:
            total += price
        return total
'''
CHECK = """\
from shop.cart import Cart

cart = Cart()
cart.add("tea", 350, 3)
cart.add("milk", 120)
total = cart.total() / 100
print(f"3 tea, 1 milk: {total:.2f}, " + ("as it should be" if total == 11.7 else "not 11.70"))
"""
TEST = """\
import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_each_piece_is_paid(self):
        cart = Cart()
        cart.add("tea", 350, 3)
        self.assertEqual(cart.total(), 1050)
"""
PROJECT = {
    "README.md": "# A shop\n",
    "check.py": CHECK,
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n',
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/orders.py": '"""What was bought."""\n',
    "tests/__init__.py": "",
    "tests/test_cart.py": TEST,
}


@contextmanager
def project() -> Iterator[tuple[Path, dict[str, str]]]:
    """Make the project; yield it with the settings to start in it as if for the first time."""
    with tempfile.TemporaryDirectory() as base:
        root = Path(base, "shop")
        for name, text in PROJECT.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.org"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin a shop"]):
            subprocess.run([*git, *words], check=True)  # noqa: S603 - in a folder of our own
        settings = {
            "PATH": os.defpath,  # no toolchains of whoever draws them
            "HOME": base,
            "ONEFOLD_BOOTSTRAP": "0",
            "ONEFOLD_DATA_DIR": f"{base}/data",
            "ONEFOLD_LANG": "en",
            "LANG": "C.UTF-8",
        }
        yield root, settings
