"""What the model is told from the start."""

from __future__ import annotations

from core.tools import ToolError, failure_outcome
from modules.prompts import prompt


def test_no_prompt_says_how_the_answer_of_a_failed_call_begins() -> None:
    """Small models begin their own last word so where one does."""
    assert "Error" not in prompt("system")
    assert (
        failure_outcome(ToolError("There is no a.txt.")).text
        == "This call failed: There is no a.txt."
    )
