"""Which features implement which hook, read off their bases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.feature import Feature
from core.hooks import HOOKS

Hook = TypeVar("Hook")


class HookMembers:
    """The *features* by their hooks: to ask each of them about each hook slows down the start.

    Raises `TypeError` for one that has the method of a hook which is none of its bases.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self._by_base: dict[Any, list[Any]] = {}
        for one in features:
            _check_hooks(one)
            for base in type(one).__mro__:
                self._by_base.setdefault(base, []).append(one)

    def of(self, hook: Callable[..., Hook]) -> list[Hook]:
        """Return those that implement the class *hook*, in their order."""
        return self._by_base.get(hook, [])


def _check_hooks(feature: Feature) -> None:
    kind = type(feature)
    for hook in HOOKS:
        for name in () if hook in kind.__mro__ else hook.__abstractmethods__:
            if hasattr(feature, name):
                message = f"{kind.__name__} has {name}() and so has to be a {hook.__name__}"
                raise TypeError(message)
