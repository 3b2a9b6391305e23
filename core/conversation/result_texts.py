"""Texts that tell a model how a call ended, where its tool did not say so. They stay in sessions.

The practice model knows an answer by them, as any other model does by reading.
"""

from __future__ import annotations

FAILED_PREFIX = "This call failed:"
"""Not "Error:": small models begin their last word with that too where they read it."""
REFUSED_PREFIX = "Refused:"
DENIED_PREFIX = "The person said no"

STOPPED_TEXT = "The person stopped the task while this ran."
NOT_RUN_PREFIX = "Not run:"
NOT_RUN_TEXT = f"{NOT_RUN_PREFIX} the person stopped the task."
SUPERSEDED_TEXT = f"{NOT_RUN_PREFIX} the person was asked about it and said something else instead."
NO_ANSWER_PREFIX = "No answer:"
INTERRUPTED_TEXT = (
    f"{NO_ANSWER_PREFIX} Onefold broke off before or while this ran. Look at the state first."
)
LOST_TEXT = "The answer of this call was lost: Onefold ended while it ran. Look at the state first."

REVISED_PREFIX = "The person changed this call before it ran"
REVISED_RESULT = "\nWhat came of it:\n"
"""What stands between the person's changes of a call and its own answer."""
ROLLED_BACK_PREFIX = "The person rolled back"
"""The beginning of the answer to a question at which the person took back what the task did."""
