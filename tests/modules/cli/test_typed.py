"""The file of what was typed holds no secret, though the person can bring it back meanwhile."""

from __future__ import annotations

from pathlib import Path

from modules.cli.input.input_history import open_history


def test_typed_secrets_are_not_kept_on_disk(tmp_path: Path) -> None:
    history = open_history(tmp_path / "typed", lambda text: text.replace("hunter2", "«SECRET:DB»"))
    history.append_string("log in with hunter2\nand sk-abcdef0123456789")
    history.append_string("fix the bug")
    kept = (tmp_path / "typed").read_text()
    assert "+log in with «SECRET:DB»\n+and …\n" in kept
    assert "+fix the bug\n" in kept
    assert list(history.get_strings())[0].endswith("sk-abcdef0123456789")
