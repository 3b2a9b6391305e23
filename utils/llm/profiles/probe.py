"""Probe of a server for a model's properties: its window, its longest reply, vision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

GetJson = Callable[[str, Mapping[str, Any] | None], Any]
"""Returns the JSON at a path, asked with a body or without; None where there is none."""

_WINDOWS = ("loaded_context_length", "max_model_len", "context_length", "context_window", "n_ctx",
            "max_context_length", "inputTokenLimit")  # fmt: skip
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "outputTokenLimit")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Properties that were found, in tokens; 0 and None are "not known"."""

    window: int = 0
    max_output: int = 0
    pictures: bool | None = None

    def __or__(self, other: ModelFacts) -> ModelFacts:
        """Return these facts, and *other* where they are silent."""
        return ModelFacts(
            self.window or other.window,
            self.max_output or other.max_output,
            other.pictures if self.pictures is None else self.pictures,
        )

    @property
    def changes(self) -> dict[str, Any]:
        """The fields of a profile that these facts say."""
        found = {"window": self.window, "max_output": self.max_output, "pictures": self.pictures}
        return {"probed": True, **{name: value for name, value in found.items() if value}}


def probe(get_json: GetJson, model: str, *, is_local_http: bool) -> ModelFacts:
    """Return the properties of *model* that the server tells, by *get_json*.

    The list of models is asked first; where it names no window and the address *is_local_http*
    HTTP, as that of programs on one's own machines, what llama.cpp, LM Studio and Ollama have
    beside it.
    """
    facts = _from_model_list(get_json("models", None), model)
    sources = (_from_llama_cpp, _from_lm_studio, _from_ollama) if is_local_http else ()
    for source in sources:
        if facts.window:
            break
        facts |= source(get_json, model)
    return facts


def _from_model_list(response: Any, model: str) -> ModelFacts:
    """Return what a list of models says of *model*, in the words of many servers."""
    rows = [row for row in _rows(response, "data") if row.get("id") in (model, f"models/{model}")]
    if not rows:
        return ModelFacts()
    parts = [rows[0], *(_table(rows[0], name) for name in ("top_provider", "meta", "limits"))]
    modalities = _table(rows[0], "architecture").get("input_modalities")
    return ModelFacts(
        min(_positive_integers(parts, _WINDOWS), default=0),
        min(_positive_integers(parts, _OUTPUTS), default=0),
        "image" in modalities if isinstance(modalities, list) else None,
    )


def _from_llama_cpp(get_json: GetJson, model: str) -> ModelFacts:  # noqa: ARG001 - it serves but one
    response = get_json("/props", None)
    settings = _table(response, "default_generation_settings")
    has_vision = _table(response, "modalities").get("vision")
    window = min(_positive_integers([settings], ("n_ctx",)), default=0)
    return ModelFacts(window, 0, has_vision if isinstance(has_vision, bool) else None)


def _from_lm_studio(get_json: GetJson, model: str) -> ModelFacts:
    """Return what is said of *model* as loaded; what it could have at most is no promise."""
    rows = [
        row for row in _rows(get_json("/api/v0/models", None), "data") if row.get("id") == model
    ]
    if not rows:
        return ModelFacts()
    window = min(_positive_integers(rows, ("loaded_context_length",)), default=0)
    return ModelFacts(window, 0, rows[0].get("type") == "vlm")


def _from_ollama(get_json: GetJson, model: str) -> ModelFacts:
    """Return the window that *model* is loaded with: beyond it Ollama cuts without a word."""
    running = get_json("/api/ps", None)
    if not isinstance(running, dict) or not isinstance(running.get("models"), list):
        return ModelFacts()  # another server, which is asked nothing that it could take amiss
    response = get_json("/api/show", {"model": model})
    if not isinstance(response, dict):
        return ModelFacts()
    capabilities = response.get("capabilities")
    has_vision = "vision" in capabilities if isinstance(capabilities, list) else None
    loaded = [row for row in _rows(running, "models") if row.get("name") == model]
    window = min(_positive_integers(loaded, ("context_length",)), default=0)
    num_ctx = re.search(r"\bnum_ctx\s+(\d{3,9})\b", str(response.get("parameters")))
    return ModelFacts(window or (int(num_ctx[1]) if num_ctx else 0), 0, has_vision)


def _rows(response: Any, name: str) -> list[dict[str, Any]]:
    rows = response.get(name) if isinstance(response, dict) else response
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _table(response: Any, name: str) -> dict[str, Any]:
    value = response.get(name) if isinstance(response, dict) else None
    return value if isinstance(value, dict) else {}


def _positive_integers(tables: list[dict[str, Any]], names: tuple[str, ...]) -> Iterator[int]:
    for table in tables:
        for name in names:
            value = table.get(name)
            if type(value) is int and value > 0:
                yield value
