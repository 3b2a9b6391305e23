from __future__ import annotations

from pathlib import Path

from utils.llm.http.errors import ServerErrors
from utils.logger import FailureLog


class Hider:
    def hide(self, text: str) -> str:
        return text.replace("hunter2", "«SECRET:DB»")


def test_neither_the_log_nor_the_person_reads_a_secret(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "log", ("key-of-ours",))
    hider = Hider()
    log.add_redactor(hider.hide)
    error = ValueError("key-of-ours, hunter2, sk-abcdef0123456789, postgres://me:pw@db")
    told = log.log(error)
    text = "…, «SECRET:DB», …, postgres://me:…@db"
    assert told.values["what"] == f"ValueError: {text}"
    assert f"ValueError: {text}" in (tmp_path / "log").read_text()
    for secret in ("key-of-ours", "hunter2", "sk-abcdef", ":pw@"):
        assert secret not in (tmp_path / "log").read_text()


def test_one_who_is_gone_is_not_asked(tmp_path: Path) -> None:
    log = FailureLog(tmp_path / "log")
    for _ in range(3):
        log.add_redactor(Hider().hide)
    assert log.log(ValueError("hunter2")).values["what"] == "ValueError: hunter2"
    assert len(log._redactors) == 1


def test_a_key_of_one_letter_hides_nothing(tmp_path: Path) -> None:
    """A server of one's own wants any key at all; an "x" would be found in every word."""
    log = FailureLog(tmp_path / "log", ("x", ""))
    assert log.log(ValueError("an exact example")).values["what"] == "ValueError: an exact example"
    failed = ServerErrors("host", "x").http_error(400, "an exact example", {}, model="m")
    assert "an exact example" in str(failed)
    hidden = ServerErrors("host", "key-of-ours").http_error(400, "not key-of-ours", {}, model="m")
    assert "key-of-ours" not in str(hidden)
