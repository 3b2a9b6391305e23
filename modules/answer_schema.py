"""The JSON schema that an answer has to match (`--output-schema`): told, and checked."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from core.feature import Feature, Section
from core.hooks import ProvidesContext
from utils.i18n import BadUsage, Phrase, Text, UserError, phrase
from utils.text.clean import visible
from utils.text.strict_json import read_json

_MAX_BYTES = 200_000
_MAX_REASON = 500  # characters
_MAX_SECONDS = 10.0  # of processor time for one answer
_REFERENCES = {"$ref", "$dynamicRef"}  # keywords whose value is an address
_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)


class InvalidAnswer(Exception):
    """An answer that is not as the schema wants it; *reason* says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _BadReference(Exception):
    """A schema refers to what it may not; *why* says to what."""

    def __init__(self, why: Phrase) -> None:
        super().__init__(why)
        self.why = why


class AnswerSchema:
    """A JSON schema of any draft. Nothing that it refers to is ever fetched."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    @classmethod
    def load(cls, path: Path) -> AnswerSchema:
        """Return the schema in the file *path*. Raises `UserError` that says what is wrong."""
        try:
            with path.open("rb") as file:  # a device has no end, and a pipe no size
                data = file.read(_MAX_BYTES + 1)
        except OSError as error:
            raise _refused(path, error.strerror or str(error)) from None
        if not data.strip() or len(data) > _MAX_BYTES:
            raise _refused(path, phrase("it is empty, or larger than {n} kB", n=_MAX_BYTES // 1000))
        try:
            schema = cls(read_json(data))
        except ValueError as error:
            raise _refused(path, phrase("it is not valid JSON: {why}", why=str(error))) from None
        schema._check(path)
        return schema

    def _check(self, path: Path) -> None:
        if not isinstance(self._schema, dict | bool):
            raise _refused(path, phrase("a schema must be a JSON object"))
        if isinstance(self._schema, dict) and not isinstance(self._schema.get("$schema", ""), str):
            raise _refused(path, phrase("{place} must be text", place="$schema"))
        try:
            from jsonschema.exceptions import SchemaError
        except ImportError:  # an environment of an older version
            raise _refused(path, phrase("the jsonschema package is not installed")) from None
        try:
            self._kind.check_schema(self._schema)
            self._check_references()
            self._check_end()
        except SchemaError as error:
            place = "/".join(map(str, error.absolute_path))
            why = f"{place}: {error.message}"[:_MAX_REASON].removeprefix(": ")
            raise _refused(path, why) from None
        except _BadReference as error:
            raise _refused(path, error.why) from None
        except RecursionError:
            raise _refused(
                path, phrase("it is not valid JSON: {why}", why="nested too deep")
            ) from None

    def _check_references(self) -> None:
        """Follow all references. Raises `_BadReference`, and `SchemaError` for a bad target."""
        from jsonschema_specifications import REGISTRY
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import specification_with

        draft = specification_with(self._kind.META_SCHEMA["$schema"])
        whole = draft.create_resource(self._schema)
        waiting = [(whole, REGISTRY.resolver_with_root(whole))]
        seen: set[int] = set()
        while waiting:
            part, resolver = waiting.pop()
            if not isinstance(part.contents, dict) or id(part.contents) in seen:
                continue
            seen.add(id(part.contents))
            for keyword in _REFERENCES & part.contents.keys():
                reference = part.contents[keyword]
                if not isinstance(reference, str):  # older drafts say nothing of it
                    raise _BadReference(phrase("{place} must be text", place=keyword))
                try:
                    target = resolver.lookup(reference)
                except (Unresolvable, ValueError):  # or no address at all
                    raise _BadReference(_not_in_it(reference)) from None
                self._kind.check_schema(target.contents)  # wherever it stands
                waiting.append((draft.create_resource(target.contents), target.resolver))
            for inner in part.subresources():
                if isinstance(inner.contents, dict):
                    waiting.append((inner, resolver.in_subresource(inner)))

    def _check_end(self) -> None:
        """Raise `_BadReference` for a schema that asks itself about one and the same value."""
        from referencing.exceptions import Unresolvable

        try:
            values: tuple[Any, ...] = (None, {}, [])
            for value in values:
                deque(self._validator.iter_errors(value), maxlen=0)
        except Unresolvable as problem:  # where only the oldest draft has schemas
            raise _BadReference(_not_in_it(problem.ref)) from None
        except RecursionError:
            raise _BadReference(phrase("it refers to itself endlessly")) from None

    @cached_property
    def _kind(self) -> Any:
        from jsonschema.validators import Draft202012Validator, validator_for

        return validator_for(self._schema, default=Draft202012Validator)

    @cached_property
    def _validator(self) -> Any:
        from referencing import Registry

        return self._kind(self._schema, registry=Registry())

    @property
    def text(self) -> str:
        return json.dumps(self._schema, ensure_ascii=False, separators=(",", ":"))

    def answer_in(self, text: str) -> str:
        """Return the JSON that *text* is, or that is fenced in it. Raises `InvalidAnswer`."""
        fenced = _FENCED.findall(text)
        candidates: list[str] = [text.strip(), *reversed(fenced)]
        for candidate in candidates:
            try:
                value = read_json(candidate)
            except ValueError:
                continue
            self._validate(value)
            return candidate.strip()
        raise InvalidAnswer("it is not one JSON value and nothing else")

    def _validate(self, value: Any) -> None:
        from jsonschema.exceptions import best_match
        from referencing.exceptions import Unresolvable

        try:
            with _limited(_MAX_SECONDS):
                error = best_match(self._validator.iter_errors(value))
        except TimeoutError:
            raise InvalidAnswer("to check it against the schema takes too long") from None
        except Unresolvable as problem:
            reason = f"the schema refers to {problem.ref!r}, which is not in it"
            raise InvalidAnswer(reason) from None
        except RecursionError:
            raise InvalidAnswer("the schema refers to itself without end") from None
        except OverflowError:
            raise InvalidAnswer("a number in it is too large to be one") from None
        if error:
            place = f"at {error.json_path}: " if error.absolute_path else ""
            raise InvalidAnswer(f"{place}{error.message}"[:_MAX_REASON])


class AnswerFormat(Feature, ProvidesContext):
    """Tells the model the *schema* of its answer, if there is one."""

    def __init__(self) -> None:
        self.schema: AnswerSchema | None = None

    def context(self) -> Iterable[Section]:
        if self.schema is None:
            return [Section("answer", "")]
        return [
            Section(
                "answer",
                "The last message of each task must be one JSON value and nothing else, no word "
                f"and no fence around it, valid by this JSON schema:\n{self.schema.text}",
            )
        ]


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in what takes more than *seconds* of processor time: a pattern may need
    years for a text that does not match. The signal breaks even into that.

    Only where there are such signals, and they reach the thread.
    """
    can_strike = hasattr(signal, "setitimer") and (
        threading.current_thread() is threading.main_thread()
    )
    if not can_strike:
        yield
        return

    def strike(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, strike)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def retry_message(reason: str) -> str:
    """Return what is said to a model whose answer was not valid."""
    return (
        f"That is not valid by the JSON schema of the answer: {reason}\n"
        "Give the answer again: the JSON alone."
    )


def _not_in_it(reference: str) -> Phrase:
    shown = visible(reference)[:_MAX_REASON]
    return phrase(
        "it refers to {ref}, which it does not contain; external references are not loaded",
        ref=shown,
    )


def _refused(path: Path, why: Text) -> UserError:
    return BadUsage(phrase("Cannot use the schema {path}: {why}.", path=str(path), why=why))


def invalid_message(reason: str) -> Phrase:
    """Return what the person is told of an answer that was not valid in the end."""
    return phrase("The answer does not match the schema: {why}", why=reason)
