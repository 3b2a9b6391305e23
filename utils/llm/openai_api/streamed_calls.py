"""The calls of a streamed reply, put together from the pieces that servers send of them."""

from __future__ import annotations

import json
import re
import secrets
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations
from typing import Any

from utils.llm.calls.lenient_json import repair_object
from utils.llm.completion import RawCall
from utils.llm.http.reply_failures import too_many_calls
from utils.llm.openai_api.event_shapes import without_placeholder
from utils.llm.repetition import ARGUMENT_CHARACTERS, Repetition
from utils.text.strict_json import is_json, is_object, read_json

_ID_LETTERS = string.ascii_letters + string.digits
_ADDRESS = re.compile(r"\bto=((?:functions\.)?[\w.-]+)")
"""The address that gpt-oss puts before a call, of servers that let it through in the name."""
_PARALLEL = re.compile(r"(?:functions\.)?multi_tool_use[._]parallel")
"""The tool that OpenAI's models sometimes believe they have, for several calls in one."""

_MAX_JOINED = 32
"""Objects in the arguments of one call that can be those of several."""


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, Any] | None = None
    repetition: Repetition = field(default_factory=lambda: Repetition(0))

    @property
    def is_complete(self) -> bool:
        """Whether its arguments are a whole object already, so that no more can come."""
        looks_complete = bool(self.pieces) and self.pieces[-1].rstrip().endswith("}")
        return looks_complete and is_json(self.arguments)

    def add_name(self, name: str) -> None:
        """Take in *name*: all of it, told once or with each piece, or the next part of it."""
        is_next_part = bool(self.name) and not self.pieces and not name.startswith(self.name)
        self.name = self.name + name if is_next_part else name or self.name

    @property
    def arguments(self) -> str:
        """All of them: the pieces put together, or the last one where that holds the others.

        Some servers send with each piece all that came before it, or all of it once more.
        """
        text = "".join(self.pieces)
        if len(self.pieces) < 2 or is_json(text):
            return text
        *others, last = pieces = without_placeholder(self.pieces)
        is_cumulative = all(after.startswith(before) for before, after in pairwise(pieces))
        return last if is_cumulative or "".join(others) == last else "".join(pieces)


class StreamedCalls:
    """Collects the pieces of calls. Raises `RequestFailed` for more than *max_calls* of them.

    Where it *ends_repetition*, arguments that say the same without end are noticed.
    """

    def __init__(self, max_calls: int, *, ends_repetition: bool) -> None:
        self._max_calls = max_calls
        self._ends_repetition = ends_repetition
        self._calls: list[_Call] = []
        self._call_at: dict[int, _Call] = {}

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def is_repeating(self) -> bool:
        return any(call.repetition.block for call in self._calls)

    @property
    def are_whole(self) -> bool:
        """Whether the arguments of every call are an object, so that none was cut."""
        return all(_is_object(repair_surrogates(call.arguments)) for call in self._calls)

    def add(self, piece: dict[str, Any]) -> tuple[str, int]:
        """Add to a call what *piece* brings, which some servers repeat from the start.

        Returns the name of its tool as far as it is known, and how many characters are new.
        """
        call = self._call_of(piece)
        function = piece.get("function") or piece
        call.id = str(piece.get("id") or call.id)
        call.add_name(str(function.get("name") or ""))
        if isinstance(extra := piece.get("extra_content"), dict):  # Gemini's signature
            call.extra = extra
        if arguments := _arguments_of(piece):
            call.pieces.append(arguments)
            call.repetition.feed(arguments)
        return call.name, len(arguments)

    def _call_of(self, piece: dict[str, Any]) -> _Call:
        """Return the call that *piece* belongs to.

        Servers that number no calls, or all of them 0, tell a new one by its new id; those that
        give no ids either, by its name when the one before is whole.
        """
        index = piece.get("index") or 0
        call = self._call_at.get(index)
        new_id = str(piece.get("id") or "")
        if call is None and self._calls and self._goes_on(self._calls[-1], new_id, piece):
            call = self._calls[-1]
        if call is None or self._begins_another(call, new_id, piece):
            if len(self._calls) == self._max_calls:
                raise too_many_calls(self._max_calls)
            call = _Call(repetition=Repetition(ARGUMENT_CHARACTERS * self._ends_repetition))
            self._calls.append(call)
            self._call_at[index] = call
        return call

    @staticmethod
    def _goes_on(call: _Call, new_id: str, piece: dict[str, Any]) -> bool:
        """Return whether *piece*, under a number of its own, is a part of *call* all the same."""
        has_name = bool((piece.get("function") or piece).get("name"))
        return not has_name and new_id in ("", call.id) and not call.is_complete

    @staticmethod
    def _begins_another(call: _Call, new_id: str, piece: dict[str, Any]) -> bool:
        name = str((piece.get("function") or piece).get("name") or "")
        if new_id:  # some give each piece an id of its own
            is_other = bool(call.id) and new_id != call.id
            return is_other and (bool(name) or call.is_complete)
        if name == call.name and piece.get("index") is not None and not _arguments_of(piece):
            return False  # the end of a call whose name stands in each piece
        return bool(name) and call.is_complete

    def read(self, *, is_cut: bool) -> list[RawCall]:
        """Return the calls; the last one of a reply that *is_cut* is marked as cut."""
        calls: list[RawCall] = []
        for call in self._calls:
            arguments = call.repetition.shortened(repair_surrogates(call.arguments))
            is_call_cut = is_cut and (call is self._calls[-1] or not is_json(arguments))
            if not is_cut:
                arguments = _repaired_arguments(arguments)
            address = _ADDRESS.search(call.name)
            name = address[1] if address else call.name.partition("<|")[0].strip()
            parts = _parted(RawCall(call.id, name, arguments, is_call_cut, extra=call.extra))
            calls += parts if len(calls) + len(parts) <= self._max_calls else [parts[0]]
        return calls


def _arguments_of(piece: dict[str, Any]) -> str:
    """Return the arguments, or the part of them, that *piece* brings under whatever name."""
    function = piece.get("function") or piece
    values = [function[key] for key in ("arguments", "parameters", "input") if function.get(key)]
    arguments = values[0] if values else ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _repaired_arguments(arguments: str) -> str:
    """Return *arguments* repaired to the JSON of an object, or as they are if that fails."""
    if is_object(arguments):
        return arguments
    try:
        return repair_object(_said_once(arguments))
    except ValueError:
        return arguments


def _is_object(arguments: str) -> bool:
    try:
        repair_object(_said_once(arguments))
    except ValueError:
        return False
    return True


def _said_once(arguments: str) -> str:
    """Return *arguments* without a repetition of all of them, and without empty ones beside them.

    Objects that differ are left as they are: nobody knows which of them is meant.
    """
    if not arguments.lstrip().startswith("{") or is_json(arguments):
        return arguments
    try:
        objects = [text for text, value in _objects_in(arguments) if value]
    except ValueError:
        return arguments
    return objects[0] if objects and objects.count(objects[0]) == len(objects) else arguments


def _objects_in(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the JSON values that stand one behind the other in *text*. Raises `ValueError`."""
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        _, end = decoder.raw_decode(text, position)
        yield text[position:end], read_json(text[position:end])
        position = end + len(text[end:]) - len(text[end:].lstrip())


def _joined_objects(arguments: str) -> Sequence[str]:
    """Return the arguments of the several calls that a gateway joined to *arguments*, () if none.

    Each begins with the same name. Where one holds all that another does it may be its correction,
    and nobody knows which of them is meant.
    """
    if not arguments.lstrip().startswith("{") or is_json(arguments):
        return ()
    try:
        objects = [(text, value) for text, value in _objects_in(arguments.strip()) if value]
    except ValueError:
        return ()
    values = [value for _, value in objects]
    if len(values) > _MAX_JOINED or not all(isinstance(value, dict) for value in values):
        return ()
    has_one_begin = len({next(iter(value)) for value in values}) == 1
    is_correction = any(one.items() <= two.items() for one, two in permutations(values, 2))
    return () if is_correction or not has_one_begin else [text for text, _ in objects]


def _parted(call: RawCall) -> Sequence[RawCall]:
    """Return the calls that *call* bundles, itself where it is one."""
    if call.is_cut:
        return [call]
    if not _PARALLEL.fullmatch(call.name):
        joined = _joined_objects(call.arguments)
        return [
            replace(call, id="" if number else call.id, arguments=one)
            for number, one in enumerate(joined)
        ] or [call]
    try:
        uses = read_json(call.arguments)["tool_uses"]
        return [
            RawCall("", str(use["recipient_name"]), json.dumps(use["parameters"])) for use in uses
        ]
    except (ValueError, KeyError, TypeError):
        return [call]


def with_ids(calls: list[RawCall]) -> tuple[RawCall, ...]:
    """Give every call an id that no other has; those of the server are kept."""
    seen: set[str] = set()
    numbered = []
    for number, call in enumerate(calls):
        call_id = call.id if call.id and call.id not in seen else _new_id(number)
        seen.add(call_id)
        numbered.append(replace(call, id=call_id))
    return tuple(numbered)


def _new_id(number: int) -> str:
    """Return an id in DeepSeek's form."""
    return f"call_{number:02d}_" + "".join(secrets.choice(_ID_LETTERS) for _ in range(24))


def repair_surrogates(text: str) -> str:
    """Return *text* with halves of surrogate pairs put together, or replaced where alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
