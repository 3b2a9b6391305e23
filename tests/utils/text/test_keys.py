from __future__ import annotations

import pytest

from utils.text.keys import redact_keys


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("use sk-abcdef0123456789 please", "use … please"),
        ("ghp_0123456789abcdefABCDEF", "…"),
        ("AKIAABCDEFGHIJKLMNOP", "…"),
        ("postgres://me:hunter2hunter2@db/x", "postgres://me:…@db/x"),
        ("DB_PASSWORD=correct-horse and go on", "DB_PASSWORD=… and go on"),
        ('{"api_key": "0123456789"}', '{"api_key": …}'),
        ("Authorization: Bearer abc.def.ghi.jkl", "Authorization: Bearer …"),
        ("my password: hunter22", "my password: …"),
        ('password = "correct horse battery" # x', "password = … # x"),
        ("PASSPHRASE='it is me'; ls", "PASSPHRASE=…; ls"),
        ("login --password hunter22 now", "login --password … now"),
        ("deploy --api-key 'a b c d' -v", "deploy --api-key … -v"),
        ("curl -u me:hunter22 https://x", "curl -u me:… https://x"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx", "…\nx"),
        ("run --max-tokens 1000000 --token-file keys.txt", None),
        ("fix the token parser in tokens.py: it is slow", None),
        ("what does password_hash() do?", None),
        ("ask-me-anything risk-based task_runner", None),
        ("说说 README 的内容", None),
    ],
)
def test_what_looks_like_a_key_is_not_kept(text: str, shown: str | None) -> None:
    assert redact_keys(text) == (text if shown is None else shown)
