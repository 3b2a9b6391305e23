"""Validation of our client's requests by DeepSeek's own validator (`deepseek-recipe`)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

MODELS = {
    "deepseek-flash": "DeepseekV41Flash",
    "deepseek-v4-pro": "DeepseekV4Pro",
    "practice": "DeepseekV41Flash",  # the practice model is asked in the same words
}


@cache
def options() -> Any:
    """Return the strictest options there are, for the models the API serves and ours."""
    import deepseek_recipe as recipe

    strict = recipe.ConversionOptions(
        reasoning_content_behavior=recipe.ReasoningContentBehavior.Reject
    )
    for name, version in MODELS.items():
        strict = strict.with_model_alias(name, getattr(recipe.ModelVersion, version))
    return strict


def recipe_error(body: bytes) -> str | None:
    """Return what DeepSeek's validator has against the request *body*, None if it takes it."""
    import deepseek_recipe as recipe

    try:
        recipe.ChatCompletionRequest(body).convert(options())
    except recipe.ConversionError as error:
        return str(json.loads(error.body)["error"]["message"])
    except ValueError as error:  # the body cannot be read as a request at all
        return str(error)
    return None


class RecordedRequests:
    """The requests that programs in other processes note in *folder* (tests/noting)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._offsets: dict[Path, int] = {}

    def new(self) -> list[bytes]:
        """Return what was noted since the last time; a line that a kill cut off is no request."""
        bodies: list[bytes] = []
        for file in self.folder.iterdir():
            read = self._offsets.get(file, 0)
            with file.open("rb") as file_stream:
                file_stream.seek(read)
                text, end, _ = file_stream.read().rpartition(b"\n")
            bodies += text.splitlines()
            self._offsets[file] = read + len(text + end)
        return bodies
