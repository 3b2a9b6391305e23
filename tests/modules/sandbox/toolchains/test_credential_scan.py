"""Many files without a name that says what they are cost no settings, and are not hidden."""

from __future__ import annotations

from pathlib import Path

from modules.sandbox.toolchains.credentials import CredentialScan

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n"


def test_many_nameless_files_are_not_hidden_and_settings_below_are_looked_into(
    tmp_path: Path,
) -> None:
    for folder in ("data", "later"):
        (tmp_path / folder).mkdir()
    for number in range(2_100):
        (tmp_path / "data" / f"part{number}").touch()
    (tmp_path / "deploy").write_text(KEY)
    (tmp_path / "later/plain.json").write_text("{}")
    (tmp_path / "later/login.json").write_text('{"apiKey": "abcdefghij0123456789"}')
    found = sorted(CredentialScan().credentials_in([tmp_path]))
    assert found == [tmp_path / "deploy", tmp_path / "later/login.json"]
