"""The glass prompt as cards: the steps of a session, and what the model read in one of them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.cards import PromptCard, PromptPart, TableCard
from core.redaction import map_strings
from modules.sent_requests.cache_misses import (
    Miss,
    cached_lengths,
    misses,
    part_tokens,
    shared_count,
    total_usage,
)
from modules.sent_requests.prompt_parts import Origins, Part, parts_of
from modules.sent_requests.steps import Step, step_before
from utils.i18n import Phrase, Text, join_lines, phrase
from utils.llm.completion import Usage
from utils.llm.prices import Tariff

Facts = tuple[tuple[Text, Text], ...]


@dataclass(frozen=True, slots=True)
class PromptView:
    """The *steps* of a session as cards; *tariff* is the price of the model of now, if known.

    Without *has_figures* the server does not say what its cache had. *redact* takes out of a
    request what nobody may see, and *origins* knows what is left.
    """

    steps: Sequence[Step]
    origins: Origins
    tariff: Tariff | None
    model: str
    has_figures: bool
    redact: Callable[[str], str]

    def list_card(self) -> TableCard:
        """Return a row for each step: its number first, and why of it was read anew last."""
        columns = (
            phrase("step"),
            phrase("task"),
            phrase("sent"),
            phrase("cached"),
            phrase("not cached"),
            phrase("price"),
            phrase("why not cached"),
        )
        rows = [self._row(position) for position in range(len(self.steps))]
        usage = total_usage(self.steps)
        counts = (usage.prompt_tokens, usage.cache_hit_tokens, usage.cache_miss_tokens)
        how = phrase("/context N shows step N; /context N diff shows what changed")
        total = ("", phrase("total"), *map(_number, counts), self._money(usage), how)
        return TableCard(phrase("What the model read, step by step"), (*rows, total), columns)

    def _row(self, position: int) -> tuple[Text, ...]:
        step = self.steps[position]
        usage = step.usage
        figures: tuple[Text, ...] = (phrase("not counted"), "", "", "")
        if usage and usage.prompt_tokens:
            figures = (
                *(_number(usage.prompt_tokens), _number(usage.cache_hit_tokens)),
                *(_number(usage.cache_miss_tokens), self._money(usage)),
            )
        why = _joined([_miss_phrase(miss) for miss in self._misses(position)])
        return (str(step.number), f"{step.turn}.{step.step}", *figures, why)

    def step_card(self, position: int, *, is_folded: bool) -> PromptCard:
        """Return all that the model read in the step at *position*."""
        step, before = self._shown(position), self._shown_before(position)
        parts = tuple(_prompt_parts(step, before))
        title = phrase("Step {n} as the model read it", n=step.number)
        return PromptCard(title, self._facts(position), parts, is_folded)

    def diff_card(self, position: int) -> PromptCard:
        """Return what of the step at *position* differs from the step before it."""
        step, before = self._shown(position), self._shown_before(position)
        shown = list(_prompt_parts(step, before))
        count = shared_count(before.parts, step.parts) if before else 0
        gone = _gone_parts(before, step) if before else ()
        title = phrase("What step {n} changed", n=step.number)
        kept = phrase("the first {n:,} parts are unchanged", n=count)
        facts = ((phrase("unchanged"), kept), *self._facts(position))
        new = (part for part in shown[count:] if part.change or not before)
        return PromptCard(title, facts, (*gone, *new))

    def _shown(self, position: int) -> Step:
        return self._as_seen(self.steps[position])

    def _shown_before(self, position: int) -> Step | None:
        before = step_before(self.steps, position)
        return self._as_seen(before) if before else None

    def _as_seen(self, step: Step) -> Step:
        """Return *step* without what nobody may see."""
        body = map_strings(step.body, self.redact)
        return step.with_parts(parts_of(body, self.origins))

    def _misses(self, position: int) -> list[Miss]:
        return misses(self.steps, position, has_figures=self.has_figures)

    def _facts(self, position: int) -> Facts:
        step = self.steps[position]
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(step.when))
        turn = phrase("task {turn}, step {step}", turn=step.turn, step=step.step)
        asked = phrase("{turn}; {time}; {model}", turn=turn, time=when, model=step.model)
        facts: list[tuple[Text, Text]] = [(phrase("asked"), asked)]
        if step.tries > 1:
            tries = phrase("{n:,} times; this is the last request", n=step.tries)
            facts.append((phrase("tried"), tries))
        if step.usage and step.usage.prompt_tokens:
            facts += self._figures(step, step.usage)
        else:
            facts.append((phrase("sent"), phrase("not counted: the reply was incomplete")))
        label = phrase("not cached, and why")
        return (*facts, *((label, _miss_phrase(miss)) for miss in self._misses(position)))

    def _figures(self, step: Step, usage: Usage) -> Iterator[tuple[Text, Text]]:
        tariff = self.tariff if step.model == self.model else None
        if tariff and (tariff.price.write or tariff.price.long_prompt):
            tariff = None  # what went into the cache is not told apart from what did not
        factor = tariff.factor(step.when) / 1_000_000 if tariff else 0.0
        kinds = (
            (phrase("cached"), usage.cache_hit_tokens, tariff.price.hit if tariff else 0),
            (phrase("not cached"), usage.cache_miss_tokens, tariff.price.miss if tariff else 0),
            (phrase("reply"), usage.completion_tokens, tariff.price.output if tariff else 0),
        )
        for label, tokens, price in kinds:
            told = phrase("{n:,} tokens", n=tokens)
            if tariff:
                told = phrase(
                    "{tokens}, ${price}", tokens=told, price=f"{tokens * price * factor:.6f}"
                )
            yield label, told
        yield phrase("price"), self._money(usage)

    def _money(self, usage: Usage) -> Text:
        if not usage.cost_usd:
            return phrase("unknown")
        is_one_model = all(step.model == self.model for step in self.steps)
        yuan = self.tariff.price.yuan if self.tariff and is_one_model else 0.0
        dollars = f"${usage.cost_usd:.6f}"
        return f"{dollars} (¥{usage.cost_usd * yuan:.6f})" if yuan else dollars


def _number(count: int) -> str:
    return f"{count:,}"


def _miss_phrase(miss: Miss) -> Phrase:
    if not miss.tokens:
        return miss.why
    return phrase("{n}: {why}", n=f"{miss.tokens:,}", why=miss.why)


def _joined(texts: Sequence[Phrase]) -> Text:
    return join_lines(*texts) if texts else phrase("none")


def _prompt_parts(step: Step, before: Step | None) -> Iterator[PromptPart]:
    sizes = part_tokens(step, before)
    count = shared_count(before.parts, step.parts) if before else 0
    kept = Counter(before.parts[count:] if before else ())
    for number, (part, size, cached) in enumerate(
        zip(step.parts, sizes, cached_lengths(step, sizes), strict=True)
    ):
        is_new = bool(before) and number >= count and not _taken_from(kept, part)
        yield PromptPart(
            *(part.source, part.label, part.text, size, cached), change="new" if is_new else ""
        )


def _gone_parts(before: Step, step: Step) -> Iterator[PromptPart]:
    count = shared_count(before.parts, step.parts)
    kept = Counter(step.parts[count:])
    for part, size in list(zip(before.parts, part_tokens(before), strict=True))[count:]:
        if not _taken_from(kept, part):
            yield PromptPart(part.source, part.label, part.text, size, 0, "gone")


def _taken_from(parts: Counter[Part], part: Part) -> bool:
    """Return whether *part* is one of *parts*, and count it off: the same may be said twice."""
    is_there = parts[part] > 0
    parts[part] -= is_there
    return is_there
