"""What a server says of a model unasked: its window, its longest reply, whether it sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Look = Callable[[str, Mapping[str, Any] | None], Any]
"""Returns the JSON at a path, asked with a body or without; None where there is none."""

_WINDOWS = ("loaded_context_length", "max_model_len", "context_length", "context_window", "n_ctx",
            "max_context_length", "inputTokenLimit")  # fmt: skip
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "outputTokenLimit")


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found; 0 and None are "not known". Tokens."""

    window: int = 0
    max_output: int = 0
    pictures: bool | None = None

    def __or__(self, other: Facts) -> Facts:
        """Return these facts, and *other* where they are silent."""
        return Facts(
            self.window or other.window,
            self.max_output or other.max_output,
            other.pictures if self.pictures is None else self.pictures,
        )

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of a profile that these facts say."""
        found = {"window": self.window, "max_output": self.max_output, "pictures": self.pictures}
        return {"probed": True, **{name: value for name, value in found.items() if value}}


def probe(look: Look, model: str, *, is_plain: bool) -> Facts:
    """Return what the server says of *model* by *look*.

    The list of models is asked first; where it names no window and the address *is_plain* HTTP, as
    that of programs on one's own machines, what llama.cpp, LM Studio and Ollama have beside it.
    """
    facts = _listed(look("models", None), model)
    sources = (_of_llama_cpp, _of_lm_studio, _of_ollama) if is_plain else ()
    for source in sources:
        if facts.window:
            break
        facts |= source(look, model)
    return facts


def _listed(told: Any, model: str) -> Facts:
    """Return what a list of models says of *model*, in the words of many servers."""
    rows = [row for row in _rows(told, "data") if row.get("id") in (model, f"models/{model}")]
    if not rows:
        return Facts()
    parts = [rows[0], *(_table(rows[0], name) for name in ("top_provider", "meta", "limits"))]
    seen = _table(rows[0], "architecture").get("input_modalities")
    return Facts(
        min(_numbers(parts, _WINDOWS), default=0),
        min(_numbers(parts, _OUTPUTS), default=0),
        "image" in seen if isinstance(seen, list) else None,
    )


def _of_llama_cpp(look: Look, model: str) -> Facts:  # noqa: ARG001 - it serves but one
    told = look("/props", None)
    settings = _table(told, "default_generation_settings")
    sees = _table(told, "modalities").get("vision")
    window = min(_numbers([settings], ("n_ctx",)), default=0)
    return Facts(window, 0, sees if isinstance(sees, bool) else None)


def _of_lm_studio(look: Look, model: str) -> Facts:
    """Return what is said of *model* as loaded; what it could have at most is no promise."""
    rows = [row for row in _rows(look("/api/v0/models", None), "data") if row.get("id") == model]
    if not rows:
        return Facts()
    window = min(_numbers(rows, ("loaded_context_length",)), default=0)
    return Facts(window, 0, rows[0].get("type") == "vlm")


def _of_ollama(look: Look, model: str) -> Facts:
    """Return the window that *model* is loaded with: beyond it Ollama cuts without a word."""
    running = look("/api/ps", None)
    if not isinstance(running, dict) or not isinstance(running.get("models"), list):
        return Facts()  # another server, which is asked nothing that it could take amiss
    told = look("/api/show", {"model": model})
    if not isinstance(told, dict):
        return Facts()
    skills = told.get("capabilities")
    sees = "vision" in skills if isinstance(skills, list) else None
    loaded = [row for row in _rows(running, "models") if row.get("name") == model]
    window = min(_numbers(loaded, ("context_length",)), default=0)
    said = re.search(r"\bnum_ctx\s+(\d{3,9})\b", str(told.get("parameters")))
    return Facts(window or (int(said[1]) if said else 0), 0, sees)


def _rows(told: Any, name: str) -> list[dict[str, Any]]:
    rows = told.get(name) if isinstance(told, dict) else told
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _table(told: Any, name: str) -> dict[str, Any]:
    value = told.get(name) if isinstance(told, dict) else None
    return value if isinstance(value, dict) else {}


def _numbers(tables: list[dict[str, Any]], names: tuple[str, ...]) -> Iterator[int]:
    for table in tables:
        for name in names:
            value = table.get(name)
            if type(value) is int and value > 0:
                yield value
