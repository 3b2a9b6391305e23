from __future__ import annotations

import pytest

from modules.jobs.keys import typed


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("yes<Enter>", b"yes\r"),
        ("one\ntwo\r\n", b"one\rtwo\r"),
        ("<C-c><c-D><C-[><C-@>", b"\x03\x04\x1b\x00"),
        ("<Up><down><LEFT><Right>", b"\x1b[A\x1b[B\x1b[D\x1b[C"),
        ("<Esc>:wq<CR><M-x><Tab><S-Tab><BS>", b"\x1b:wq\r\x1bx\t\x1b[Z\x7f"),
        ("<lt>Enter> <b>bold</b> <unknown> a<b", b"<Enter> <b>bold</b> <unknown> a<b"),
        ("你好<F1><PageDown>", "你好\x1b[[A\x1b[6~".encode()),
        ("", b""),
    ],
)
def test_keys_are_typed_by_name_and_all_else_as_it_stands(text: str, sent: bytes) -> None:
    assert typed(text) == sent


def test_arrows_are_others_for_a_program_that_asked_for_these() -> None:
    assert typed("<Up><Home>", has_application_keys=True) == b"\x1bOA\x1b[1~"
