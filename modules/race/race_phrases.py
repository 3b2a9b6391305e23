"""Words and sentences on racers that several parts of a race use."""

from __future__ import annotations

from collections.abc import Mapping

from modules.race.kept_races import Racer
from modules.spending.amounts import amount
from utils.i18n import Phrase, phrase

STATES: Mapping[str, Phrase] = {
    "waiting": phrase("not started"),
    "running": phrase("interrupted"),
    "done": phrase("done"),
    "stopped": phrase("stopped"),
    "step_limit": phrase("step limit"),
    "budget": phrase("budget used up"),
    "error": phrase("failed"),
}
WHICH = phrase("Which result should be taken?")
CHECKS: Mapping[str, Phrase] = {
    "green": phrase("passed"),
    "red": phrase("failed"),
    "none": phrase("not run"),
}


def ended_phrase(racer: Racer) -> Phrase:
    """Return the sentence on how *racer* ended."""
    return phrase(
        "Racer {n}: {state}, checks {checks}, {seconds} s, ${cost}",
        n=str(racer.number),
        state=STATES[racer.state],
        checks=CHECKS[racer.checks],
        seconds=f"{racer.seconds:.0f}",
        cost=amount(racer.usage.cost_usd),
    )
