"""Codes of errors, for programs: they stay, while the sentence beside them is for people."""

from __future__ import annotations

from typing import Literal

ErrorCode = Literal[
    "key",
    "balance",
    "overflow",
    "rate",
    "network",
    "model",
    "timeout",
    "sandbox",
    "refused",
    "not_found",
    "bad_arguments",
    "command",
    "limit",
    "internal",
]
"""Kinds of failure of a turn or of a call; docs/cli.md says of each what it means."""
