from __future__ import annotations

import pytest

from utils.text.keys import keys_in, redact_keys


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("API_KEY = 'sk-live-" + "4f9A8b7C6d5E3x2Y1w0Z'", "sk-l…"),
        ("sk-" + "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "sk-9…"),
        ("token: ghp_" + "k3J9sLq0Zt7RbX2mVw8YpE5dNc1HuFgA6oTi", "ghp_…"),
        ("glpat-" + "x7_Qk-w3Rz_bV9-mTn5", "glpa…"),
        ("AKIA" + "Q7ZKJNMWUXRTPVHB", "AKIA…"),
        ("postgres://app:v3ry-Str0ng@db.internal/x", "postgres://…@db.internal"),
    ],
)
def test_a_key_is_known_by_its_form(text: str, shown: str) -> None:
    assert list(keys_in(text).values()) == [shown]


@pytest.mark.parametrize(
    "text",
    [
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-test-4f9A8b7C6d5E-placeholder",
        "sk-aaaaaaaaaaaaaaaaaaaaaaaa",
        "key = <your key>, sk-your-k3y-4f9A8b7C6d5E",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y",
        "npm-run-script-2024-release-v2 hf_transformers_model_name_v2 sk-learn-something-python3",
        "postgres://postgres:postgres@db/x mysql://u:change-me@db.io/x",
        "redis://u:v3ry-Str0ng@localhost/1 https://u:${DB_PASSWORD}@db.io",
        "http://localhost:8080, me@example.org",
        'f"{scheme}://{user}:{password}@{host}"',
    ],
)
def test_what_stands_for_a_key_is_none(text: str) -> None:
    assert keys_in(text) == {}
