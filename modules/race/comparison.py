"""Results of racers side by side: how they stand to each other, and the proposed one."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from core.cards import DiffCard, TableCard
from core.events import Event, Reply
from modules.race.kept_races import KeptRace, Racer
from modules.race.pairs import PairReader
from modules.race.race_phrases import CHECKS, STATES
from modules.spending.amounts import amount
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.lines import cut_middle

_CHECKS_ORDER = {"green": 0, "none": 1, "red": 2}
_MAX_ANSWER = 160  # characters of an answer in a table


class Proposal(NamedTuple):
    """The racer to take, 0 for none, and why it is that one."""

    number: int
    reasons: tuple[Phrase, ...]


def rank_by_rule(racers: Sequence[Racer]) -> list[Racer]:
    """Return those that may be taken, the best first: by end, checks, then lines changed."""
    return sorted(
        (one for one in racers if one.can_be_taken),
        key=lambda one: (*_class_of(one), one.added + one.removed, one.number),
    )


def _class_of(racer: Racer) -> tuple[bool, int]:
    return racer.state != "done", _CHECKS_ORDER[racer.checks]


def propose(
    task: str,
    racers: Sequence[Racer],
    diffs: Mapping[int, Sequence[DiffCard]],
    reader: PairReader | None,
) -> Generator[Event, Reply | None, Proposal]:
    """Return which of *racers* to take; of those that equal checks leave, *reader* reads pairs.

    Without a reader, and where it cannot tell, the fewer lines changed decide.
    """
    ranked = rank_by_rule(racers)
    if not ranked:
        return Proposal(0, (phrase("No racer has changed a file: there is nothing to take."),))
    if ranked[0].state != "done":
        why = phrase("No racer finished, so none is proposed. You can still take one.")
        return Proposal(0, (why,))
    best = [one for one in ranked if _class_of(one) == _class_of(ranked[0])]
    reasons = [_reason_of_checks(best, ranked)]
    winner = best[0]
    for other in best[1:]:
        if _is_same(diffs[winner.number], diffs[other.number]):
            reasons.append(_same(winner, other))
            continue
        verdict = (yield from reader.read(task, winner, other, diffs)) if reader else None
        if verdict is None:
            reasons.append(phrase("The model did not compare all: fewer changed lines decide."))
            winner = best[0]
            break
        winner = other if verdict.number == other.number else winner
        reasons.append(verdict.reason)
    return Proposal(winner.number, tuple(reasons))


def _is_same(one: Sequence[DiffCard], other: Sequence[DiffCard]) -> bool:
    """Return whether both changed the same in the same way, as far as a diff shows it."""
    return all(card.diff for card in one) and list(one) == list(other)


def _same(one: Racer, other: Racer) -> Phrase:
    first, second = str(one.number), str(other.number)
    return phrase("Racers {one} and {other} made the same changes.", one=first, other=second)


def _reason_of_checks(best: Sequence[Racer], ranked: Sequence[Racer]) -> Phrase:
    names = ", ".join(str(one.number) for one in sorted(best, key=lambda one: one.number))
    if best[0].checks == "green" and len(best) < len(ranked):
        return phrase("Only these finished with passing checks: {names}.", names=names)
    if best[0].checks == "green":
        return phrase("The checks passed for: {names}.", names=names)
    if best[0].checks == "red":
        return phrase("The checks failed for every racer that finished.")
    return phrase("No checks were run for: {names}.", names=names)


def race_card(race: KeptRace, taken: int = 0, *, has_answers: bool = False) -> TableCard:
    """Return the results of *race* side by side; *taken* is the number of one that was taken.

    It names models and modes where racers have others, and answers where it is to.
    """
    columns: tuple[Phrase, ...] = (
        phrase("racer"),
        phrase("ended"),
        phrase("checks"),
        phrase("changes"),
        phrase("time"),
        phrase("cost"),
    )
    rows = [_row(racer, _label(racer.number, race.proposed, taken)) for racer in race.racers]
    if len({(racer.model, racer.mode) for racer in race.racers}) > 1:
        columns = (*columns, phrase("model"))
        rows = [(*row, _model(racer)) for row, racer in zip(rows, race.racers, strict=True)]
    if has_answers:
        columns = (*columns, phrase("answer"))
        rows = [(*row, _answer(racer)) for row, racer in zip(rows, race.racers, strict=True)]
    alarms = tuple(n for n, one in enumerate(race.racers) if one.checks == "red")
    task = cut_middle(visible(race.task), _MAX_ANSWER)
    return TableCard(phrase("Race: {task}", task=task), tuple(rows), columns, alarms)


def _label(number: int, proposed: int, taken: int) -> Text:
    if number == taken:
        return phrase("{n} (taken)", n=str(number))
    return phrase("{n} (proposed)", n=str(number)) if number == proposed else str(number)


def _row(racer: Racer, label: Text) -> tuple[Text, ...]:
    ended: Text = STATES[racer.state]
    if racer.detail and racer.state == "error":
        ended = phrase("{state}: {why}", state=ended, why=racer.detail)
    cost = f"${amount(racer.usage.cost_usd)}"
    seconds = f"{racer.seconds:.0f} s"
    return label, ended, CHECKS[racer.checks], _changes(racer), seconds, cost


def _model(racer: Racer) -> str:
    return ", ".join(filter(None, [visible(racer.model), racer.mode]))


def _answer(racer: Racer) -> str:
    return cut_middle(visible(racer.answer.replace("\n", " ")), _MAX_ANSWER)


def _changes(racer: Racer) -> Text:
    if not racer.commits:
        return _files(racer)
    if racer.commits == 1:
        return phrase("{files}, 1 commit", files=_files(racer))
    return phrase("{files}, {n:,} commits", files=_files(racer), n=racer.commits)


def _files(racer: Racer) -> Phrase:
    if not racer.files:
        return phrase("no changes")
    lines = f"+{racer.added} −{racer.removed}"
    if racer.files == 1:
        return phrase("1 file, {lines}", lines=lines)
    return phrase("{n:,} files, {lines}", n=racer.files, lines=lines)


def result_text(racer: Racer, diffs: Sequence[DiffCard]) -> str:
    """Return the answer of *racer* and what it changed, as one text."""
    return "\n\n".join(filter(None, [racer.answer, *map(_diff_text, diffs)]))


def _diff_text(card: DiffCard) -> str:
    return f"{card.path}\n{card.diff or f'({card.note})'}".rstrip()
