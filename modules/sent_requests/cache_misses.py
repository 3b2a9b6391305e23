"""Misses of the provider's cache: what of a request had to be read anew, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os.path import commonprefix

from modules.sent_requests.prompt_parts import Part
from modules.sent_requests.steps import Step, step_before
from utils.i18n import Phrase, phrase
from utils.llm.completion import Usage
from utils.text.tokens import estimate_tokens

_BLOCK_TOKENS = 256
"""Servers keep whole blocks of 64 to 128 tokens: of what was sent the end of one may be missing."""
_DOUBTFUL_SHARE = 0.2
"""How far an estimate of tokens may be off."""
_HOUR, _MINUTE = 3600, 60
_SOON = 5 * _MINUTE
"""Seconds within which a cache expires on no server."""

_REWRITTEN = {
    "compaction": phrase("earlier turns were summarized (compaction)"),
    "left_out": phrase("the oldest turns were dropped because they no longer fit"),
    "results_cut": phrase("long tool results were shortened to free up space"),
    "masked": phrase("old tool results were dropped to save cost"),
    "rewind": phrase("turns were undone; everything since is new"),
}


@dataclass(frozen=True, slots=True)
class Miss:
    """*tokens* that the server had to read anew for the reason *why*."""

    why: Phrase
    tokens: int


def misses(steps: Sequence[Step], position: int, *, has_figures: bool = True) -> list[Miss]:
    """Return the misses of the step at *position*, the cause that concerns most of it first.

    All together they are what the server counted; where it did not, each is of 0 tokens. Without
    *has_figures* it does not say what its cache had.
    """
    step = steps[position]
    found = list(_misses(steps, position, has_figures=has_figures))
    tries = max(step.usage.requests, 1) if step.usage else 1
    missed = step.usage.cache_miss_tokens if step.usage else 0
    counted: list[Miss] = []
    for number, miss in enumerate(found, 1):
        expected = max(miss.tokens * tries, 0)
        tokens = missed if number == len(found) else min(expected, missed)
        missed -= tokens
        counted.append(Miss(miss.why, tokens))
    told = [one for one in counted if one.tokens or not step.prompt_tokens]
    return sorted(told, key=lambda one: one.tokens, reverse=True)


def _misses(steps: Sequence[Step], position: int, *, has_figures: bool) -> Iterator[Miss]:
    """Yield the causes in the order of the request, with the tokens of one try."""
    step = steps[position]
    before = step_before(steps, position)
    if before is None:
        yield Miss(_beginning(step), step.prompt_tokens)
        return
    if not has_figures:
        yield Miss(phrase("the server does not report its cache"), step.prompt_tokens)
        return
    shared = shared_tokens(before, step)
    fresh = step.prompt_tokens - shared
    repeated = step.prompt_tokens - step.hit_tokens - fresh if step.prompt_tokens else 0
    is_continued = before.parts == step.parts[: len(before.parts)]
    slack = _BLOCK_TOKENS if is_continued else max(_BLOCK_TOKENS, int(shared * _DOUBTFUL_SHARE))
    if other := _other_cache(before, step):
        if repeated > slack or not step.prompt_tokens:
            yield Miss(other, repeated)
    elif repeated > slack:
        yield Miss(_expired(steps[:position], step), repeated)
    elif repeated > 0 and is_continued:
        yield Miss(phrase("the server caches whole blocks only"), repeated)
    if is_continued:
        if len(step.parts) > len(before.parts):
            yield Miss(phrase("new text at the end"), fresh)
        elif step.hit_tokens < step.prompt_tokens:
            yield Miss(phrase("unchanged: the end of a request is never cached"), fresh)
    else:
        yield from _changed(before, step, fresh)


def _beginning(step: Step) -> Phrase:
    if step.is_summary:
        return phrase("a separate request that summarizes turns")
    if (step.turn, step.step) == (1, 1):
        return phrase("start of the session")
    return phrase("the first saved request (a fork, or older ones are no longer kept)")


def _other_cache(before: Step, step: Step) -> Phrase | None:
    """Return why the server reads *step* with another cache than the step *before* it."""
    if before.model != step.model:
        return phrase("different model: {model} has its own cache", model=step.model)
    if before.mode != step.mode:
        return phrase("thinking was turned on or off; each has its own cache")
    return None


def _expired(earlier: Sequence[Step], step: Step) -> Phrase:
    same = [one for one in earlier if (one.model, one.mode) == (step.model, step.mode)]
    last = same[-1] if same else earlier[-1]
    has_cached = any(one.hit_tokens for one in [*same, step])
    if not has_cached and step.when - last.when < _SOON:
        return phrase("nothing changed: the server has not used a cache so far")
    return phrase(
        "nothing changed: the server's cache had expired, {time} after the last request",
        time=_duration(step.when - last.when),
    )


def _duration(seconds: float) -> Phrase:
    if seconds < _MINUTE:
        return phrase("{n} s", n=round(seconds))
    if seconds < _HOUR:
        return phrase("{n} min", n=round(seconds / _MINUTE))
    return phrase("{n} hours", n=f"{seconds / _HOUR:.1f}")


def _changed(before: Step, step: Step, fresh: int) -> Iterator[Miss]:
    """Yield why the parts of *step* do not go on from those *before*, and what is new behind."""
    at = shared_count(before.parts, step.parts)
    source = before.parts[at].source
    if source not in ("system", "tools") or at >= len(step.parts):
        yield Miss(_rewritten(step), fresh)
        return
    end = len(before.parts)
    is_same_behind = before.parts[at + 1 :] == step.parts[at + 1 : end]
    new = sum(part_tokens(step, before)[end:]) if is_same_behind else 0
    yield Miss(_other_tools(before, step) if source == "tools" else _other_text(), fresh - new)
    if new:
        yield Miss(phrase("new text at the end"), new)


def _rewritten(step: Step) -> Phrase:
    return _REWRITTEN.get(
        step.rewrite, phrase("earlier content was sent differently; the reason is unknown")
    )


def _other_text() -> Phrase:
    return phrase("different instructions")


def _other_tools(before: Step, step: Step) -> Phrase:
    added = [f"+{name}" for name in step.tools if name not in before.tools]
    gone = [f"−{name}" for name in before.tools if name not in step.tools]
    if not added and not gone:
        return phrase("tool descriptions changed")
    return phrase("different tools: {names}", names=", ".join([*added, *gone]))


# --- tokens --------------------------------------------------------------------------------------


def shared_count(before: Sequence[Part], after: Sequence[Part]) -> int:
    """Return how many parts both begin with."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(before), len(after)))


def shared_tokens(before: Step, step: Step) -> int:
    """Return about how many tokens *step* begins with that were sent in *before*."""
    count = shared_count(before.parts, step.parts)
    if count == len(before.parts) and before.prompt_tokens:
        return min(before.prompt_tokens, step.prompt_tokens)
    sizes = part_tokens(step)
    shared = sum(sizes[:count])
    if count < min(len(before.parts), len(step.parts)):
        texts = [before.parts[count].text, step.parts[count].text]
        shared += sizes[count] * len(commonprefix(texts)) // max(len(texts[1]), 1)
    return shared


def part_tokens(step: Step, before: Step | None = None) -> list[int]:
    """Return about how many tokens each part has: all together those that the server counted.

    What *step* has in common with the step *before* it has as many as were counted there.
    """
    estimates = [_estimate(part) for part in step.parts]
    known = before.prompt_tokens if before and step.prompt_tokens > before.prompt_tokens else 0
    count = len(before.parts) if before else 0
    if not known or before is None or before.parts != step.parts[:count]:
        return _scaled(estimates, step.prompt_tokens)
    return [
        *_scaled(estimates[:count], known),
        *_scaled(estimates[count:], step.prompt_tokens - known),
    ]


def _scaled(estimates: Sequence[int], total: int) -> list[int]:
    """Return *estimates* so that they make up *total*, as they are where that is 0."""
    whole = sum(estimates)
    if not total or not whole:
        return list(estimates)
    ends = [0]
    for estimate in estimates:
        ends.append(ends[-1] + estimate)
    marks = [end * total // whole for end in ends]
    return [end - start for start, end in zip(marks, marks[1:], strict=False)]


@lru_cache(maxsize=4_096)
def _estimate(part: Part) -> int:
    return estimate_tokens(part.text)


def cached_lengths(step: Step, sizes: Sequence[int]) -> list[int]:
    """Return how many characters of each part, of so many tokens each, the server had before."""
    left = step.hit_tokens
    lengths = []
    for part, size in zip(step.parts, sizes, strict=True):
        taken = min(left, size)
        lengths.append(len(part.text) * taken // size if size else len(part.text) * (left > 0))
        left -= taken
    return lengths


def total_usage(steps: Sequence[Step]) -> Usage:
    return sum((step.usage for step in steps if step.usage), Usage())
