"""A message that the model offers: one bounded call, without what is secret, its cost kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.tools import ToolError
from modules.git.person.suggestion import MAX_DIFF
from tests.modules.git.person.repositories import (
    commit_file,
    make_repository,
    opened,
    person_git,
    run_git,
)
from tests.scripted_model import text_reply
from utils.i18n import UserError

KEY = "-----BEGIN PRIVATE KEY-----\nhidden\n-----END PRIVATE KEY-----\n"


def test_the_model_reads_what_is_staged_without_secrets(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "old.pem", KEY, "Earlier words")
    (root / "a.txt").write_text("shown to the model\n")
    (root / "later.txt").write_text("not staged\n")
    (root / ".env").write_text("TOKEN=abcdefgh12345678\n")
    (root / "new.pem").write_text(KEY.replace("hidden", "secret"))
    (root / "old.pem").unlink()
    with opened(tmp_path, text_reply("```\nAdd a text\n```")) as here:
        git = person_git(here)
        git.stage(["a.txt", ".env", "new.pem", "old.pem"])
        found = git.suggest()
        assert found.message == "Add a text"
        assert set(found.left_out) == {".env", "new.pem"}
        assert found.usage.requests == 1
        (request,) = here.model.requests
        assert here.terminal.usage.requests == 1
        text = str(request)
    assert "shown to the model" in text
    assert "Earlier words" in text
    for secret in ("hidden", "secret\\n", "abcdefgh12345678", "not staged"):
        assert secret not in text, secret
    assert run_git("diff", "--cached", "--no-renames", "--name-only", at=root).split() == [
        ".env", "a.txt", "new.pem", "old.pem"
    ]  # fmt: skip


def test_a_long_diff_is_cut_and_nothing_staged_is_no_call(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    with opened(tmp_path, text_reply("Add it"), text_reply("  ")) as here:
        git = person_git(here)
        with pytest.raises(ToolError, match="nothing to commit"):
            git.suggest()
        assert here.model.requests == []
        (root / "a.txt").write_text("a line\n" * MAX_DIFF)
        git.stage([])
        assert git.suggest().is_cut
        assert len(str(here.model.requests[0])) < MAX_DIFF * 1.5
        with pytest.raises(UserError, match="suggested no message"):
            git.suggest()
