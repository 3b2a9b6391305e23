"""What counts of an answer about a content: here, in another process, and when many are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.feature import Answer
from modules.instructions.consent import AskOnce, Consents, content_digest

HOOKS = content_digest("hooks", b"{}")


def state(ask: AskOnce, digest: str = HOOKS) -> str:
    flags = {"allowed": ask.is_allowed, "refused": ask.is_refused, "open": ask.is_open}
    return " ".join(name for name, holds in flags.items() if holds(digest))


@pytest.mark.parametrize(
    ("said", "here", "elsewhere"),
    [
        (["yes"], "allowed", "allowed"),
        (["no"], "refused", "refused"),
        (["allowed"], "allowed", "open"),
        (["nobody"], "", "open"),
        (["nobody", "yes"], "allowed", "allowed"),
        (["allowed", "no"], "refused", "refused"),
        (["no", "yes"], "allowed", "allowed"),
    ],
)
@pytest.mark.parametrize("is_full", [False, True])
def test_a_content_is_asked_about_once(
    tmp_path: Path, said: list[Answer], here: str, elsewhere: str, *, is_full: bool
) -> None:
    path = tmp_path / "consents.json"
    if is_full:  # so many contents were known that some had to be forgotten
        path.write_text('{"*": "written"}')
    ask = AskOnce(Consents(path))
    assert state(ask) == "open"
    for answer in said:
        ask.take(HOOKS, answer)
    assert (state(ask), state(AskOnce(Consents(path)))) == (here, elsewhere)
    assert state(ask, content_digest("mcp", b"{}")) == "open"
