"""DeepSeek's own validator (`deepseek-recipe`) as the judge of what our client sends."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

MODELS = {"deepseek-flash": "DeepseekV41Flash", "deepseek-v4-pro": "DeepseekV4Pro"}


@cache
def options() -> Any:
    """Return the strictest options there are, for the models the API serves."""
    import deepseek_recipe as recipe

    strict = recipe.ConversionOptions(
        reasoning_content_behavior=recipe.ReasoningContentBehavior.Reject
    )
    for name, version in MODELS.items():
        strict = strict.with_model_alias(name, getattr(recipe.ModelVersion, version))
    return strict


def verdict(body: bytes) -> str | None:
    """Return what DeepSeek's validator has against the request *body*, None if it takes it."""
    import deepseek_recipe as recipe

    try:
        recipe.ChatCompletionRequest(body).convert(options())
    except recipe.ConversionError as error:
        return str(json.loads(error.body)["error"]["message"])
    except ValueError as error:  # the body cannot be read as a request at all
        return str(error)
    return None
