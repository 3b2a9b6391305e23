"""What a client is shown of events."""

from __future__ import annotations

from pathlib import Path

import pytest
from acp.schema import AgentMessageChunk, TextContentBlock

from core.events import Retrying
from modules.acp.updates.updates import Updates
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.pictures import read_no_picture


@pytest.mark.parametrize(
    "reason",
    [phrase("{host} said: {what}", host="h", what="overloaded"), phrase("The reply ended early.")],
)
def test_the_reason_of_a_new_try_ends_before_it_is_told(reason: Phrase) -> None:
    updates = Updates(Path("/"), {}, Translator("en", {}), read_no_picture)
    (update,) = updates.of(Retrying(reason, 1, 0.0))
    assert isinstance(update, AgentMessageChunk)
    assert isinstance(update.content, TextContentBlock)
    told = str(reason).rstrip(".")
    assert update.content.text.strip("\n_").endswith(f"{told}. Restarting the reply.")
