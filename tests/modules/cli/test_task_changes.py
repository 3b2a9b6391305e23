from typing import Any

import pytest

from core.cards import Change
from modules.cli.task_changes import TaskChanges

NOTHING: dict[str, list[Any]] = {"created": [], "modified": [], "deleted": [], "renamed": []}
MADE = Change("created", "a")
MENDED = Change("modified", "a")
GONE = Change("deleted", "a")
MOVED = Change("renamed", "a", "b")
BACK = Change("renamed", "b", "a")


@pytest.mark.parametrize(
    ("changes", "sum_"),
    [
        ([MADE, MENDED], {"created": ["a"]}),
        ([MENDED, MENDED], {"modified": ["a"]}),
        ([MADE, GONE], {}),
        ([MENDED, GONE], {"deleted": ["a"]}),
        ([GONE, MADE], {"modified": ["a"]}),
        ([MOVED], {"renamed": [{"from": "a", "to": "b"}]}),
        ([MADE, MOVED], {"created": ["b"]}),
        ([MOVED, BACK], {}),
        ([MENDED, MOVED], {"modified": ["b"], "renamed": [{"from": "a", "to": "b"}]}),
        ([MOVED, Change("deleted", "b")], {"deleted": ["a"]}),
        (
            [Change("modified", "old/x/y"), Change("renamed", "old", "new")],
            {"modified": ["new/x/y"], "renamed": [{"from": "old", "to": "new"}]},
        ),
        ([Change("created", "d/x"), Change("created", "d"), Change("deleted", "d")], {}),
        (
            [Change("renamed", "old", "new"), Change("deleted", "new/x")],
            {"deleted": ["old/x"], "renamed": [{"from": "old", "to": "new"}]},
        ),
        (
            [Change("renamed", "old", "new"), Change("renamed", "new/x", "a")],
            {"renamed": [{"from": "old/x", "to": "a"}, {"from": "old", "to": "new"}]},
        ),
    ],
)
def test_a_task_is_summed_up(changes: list[Change], sum_: dict[str, Any]) -> None:
    changes_of_task = TaskChanges()
    changes_of_task.add(changes)
    assert changes_of_task.to_json() == {**NOTHING, **sum_}
