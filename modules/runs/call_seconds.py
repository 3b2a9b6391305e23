"""The seconds of a run that the settings allow, in the schema of its tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

from core.tools import RunningTool


def with_seconds(
    run: Callable[..., RunningTool], default: int, largest: int
) -> Callable[..., RunningTool]:
    """Return the tool *run* with other seconds than those in its code, said in its schema."""

    @wraps(run)
    def wrapper(*arguments: Any, **named: Any) -> RunningTool:
        given = signature.bind(*arguments, **named)
        given.apply_defaults()
        return run(*given.args, **given.kwargs)

    original = inspect.signature(run)
    time = original.parameters["timeout"].replace(default=default)
    signature = original.replace(
        parameters=list((original.parameters | {"timeout": time}).values())
    )
    wrapper.__signature__ = signature  # type: ignore[attr-defined]
    timeout = Annotated[int, f"seconds, up to {largest}"]
    wrapper.__annotations__ = {**run.__annotations__, "timeout": timeout}
    return wrapper
