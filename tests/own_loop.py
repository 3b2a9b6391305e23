"""Coroutines of tests, each in a loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_in_own_loop(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run *coroutine* to its end, in a thread: a browser's test may have left a loop in this one.

    Raises what it raises.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
