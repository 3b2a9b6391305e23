"""The features of a terminal: each is asked by the hooks that it names, and by no other."""

from __future__ import annotations

from typing import Any

import pytest

from core.feature import Feature, Section
from core.feature_set import FeatureSet
from core.hooks import HOOKS, KeepsState, ProvidesContext


class Knows(Feature, ProvidesContext):
    def __init__(self, name: str) -> None:
        self.name = name

    def context(self) -> list[Section]:
        return [Section(self.name, "text")]


class Counts(Feature, KeepsState):
    count = 0

    def state(self) -> dict[str, Any]:
        return {"count": self.count}

    def restore(self, state: dict[str, Any]) -> None:
        self.count = state.get("count", 0)


def test_each_is_asked_what_it_provides_in_their_order() -> None:
    counts = Counts()
    features = FeatureSet([Knows("b"), counts, Feature(), Knows("a")])
    assert [section.name for section in features.context()] == ["b", "a"]
    features.on_rewind({"count": 3})
    assert features.state() == {"count": 3}
    assert (features.status(), features.unfinished_work(), features.redact("x")) == ([], None, "x")


def test_a_hook_that_is_not_named_as_a_base_is_refused() -> None:
    class Forgot(Feature):
        def close(self) -> None: ...

    with pytest.raises(TypeError, match=r"Forgot has close\(\) and so has to be a HoldsResources"):
        FeatureSet([Forgot()])


def test_a_base_whose_methods_are_missing_is_refused() -> None:
    class Half(Feature, KeepsState):
        def state(self) -> dict[str, Any]:
            return {}

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]


def test_no_two_hooks_share_a_method() -> None:
    names = [name for hook in HOOKS for name in hook.__abstractmethods__]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() and not hasattr(Feature, name) for name in names)
