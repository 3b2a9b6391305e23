"""The way of what a helper wrote into the project: call by call, merged, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.cards import Change
from core.conversation.helper_records import nested_call_id
from modules.checkpoints.undo.background_ids import IN_BACKGROUND
from modules.checkpoints.undo.recorder import CallRecorder
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain

if TYPE_CHECKING:
    from modules.checkpoints.checkpoints import Checkpoints

_MAX_DIFF = 6_000  # characters of the differences that a model reads at once
_MAX_LISTED = 20


class Reached(NamedTuple):
    """How far the changes of a copy are in the project: to its *snapshot*, after its *call* (the
    number that the copy's checkpoints give it).

    *before* is the project's snapshot before all of it, 0 where nothing is begun; *conflicts* are
    paths with what was put beside them, *skipped* paths with the reason, *changes* those of the
    project once it *is_all*.
    """

    snapshot: int
    call: int = 0
    before: int = 0
    conflicts: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    changes: tuple[Change, ...] = ()
    is_all: bool = False

    def to_state(self) -> dict[str, Any]:
        return {**self._asdict(), "changes": [to_plain(one) for one in self.changes]}

    @classmethod
    def of(cls, state: dict[str, Any]) -> Reached:
        """Return what `to_state` made, which was JSON meanwhile."""
        pairs = {name: tuple(map(tuple, state[name])) for name in ("conflicts", "skipped")}
        changes = tuple(from_plain(Change, one) for one in state["changes"])
        return cls(**{**state, **pairs, "changes": changes})


class TakenBack(NamedTuple):
    """What came of a copy: *changes* in the project, and what the model is to know of it."""

    changes: tuple[Change, ...]
    remark: str


class _Step(NamedTuple):
    """What a call of a helper did, to the copy's snapshot *after* it; *id* is the project's."""

    id: str
    call: int
    after: int


class WayBack:
    """Does in the project *root* what the helper did that is the call *call_id*.

    Each call of it is a call of the project's too, by *recorded*, so that undo and `/why` know them
    apart. From the first one on that changed what was changed in the project meanwhile, all is
    merged at once: so a conflict is one, about what the helper has in the end. *keep* keeps how far
    that is, so that none is done twice, whenever we are killed.
    """

    def __init__(
        self,
        recorder: CallRecorder,
        root: Path,
        call_id: str,
        *,
        recorded: Callable[[str], AbstractContextManager[None]],
        keep: Callable[[Reached], None],
    ) -> None:
        self._recorder = recorder
        self._root = root
        self._call_id = call_id
        self._recorded = recorded
        self._keep = keep

    def go(self, clone: Checkpoints, session: str, first: int, reached: Reached) -> Reached:
        """Do what is left of it from *reached* on; return what is reached then, which is all.

        *clone* are the checkpoints of the copy, *first* is its snapshot before the helper's work.
        Raises `UserError`; what was done stays.
        """
        end = clone.take().id
        if not reached.before:
            reached = reached._replace(before=self._recorder.snapshot_now())
            self._keep(reached)
        for step in self._steps(clone, session, reached):
            changes = clone.diff(reached.snapshot, step.after)
            if self._are_free(clone, reached.snapshot, changes):
                reached = self._do(clone, reached, step)
            elif self._are_free(clone, step.after, changes):  # a kill came before that was kept
                reached = reached._replace(snapshot=step.after, call=step.call)
            else:
                break
            if reached.conflicts or reached.skipped:
                break
        if clone.diff(reached.snapshot, end):
            reached = self._do(clone, reached, _Step(self._call_id, reached.call, end))
        done = self._changes(reached, clone.diff(first, end))
        reached = reached._replace(changes=done, is_all=True)
        self._keep(reached)
        return reached

    def _changes(self, reached: Reached, helpers: Sequence[Change]) -> tuple[Change, ...]:
        """Return what came of the changes that are the *helpers* in the project."""
        paths = {*_paths(helpers), *(beside for _, beside in reached.conflicts)}
        now = self._recorder.snapshot_now()
        changes = self._recorder.changes_between(reached.before, now)
        return tuple(one for one in changes if not paths.isdisjoint(_paths([one])))

    def _steps(self, clone: Checkpoints, session: str, reached: Reached) -> Iterator[_Step]:
        """Yield the helper's calls that changed files and are not in the project yet."""
        for call in clone.index.calls(session):
            is_own = not (call.is_undone or call.call_id.endswith(IN_BACKGROUND))
            if call.id > reached.call and call.after and call.has_visible_changes and is_own:
                yield _Step(nested_call_id(self._call_id, call.call_id), call.id, call.after)

    def _are_free(self, clone: Checkpoints, snapshot: int, changes: Sequence[Change]) -> bool:
        """Return whether the project is as at *snapshot* of the copy wherever *changes* are."""
        others = _paths(self._recorder.changes_since(clone, snapshot))
        return not any(_is_near(one, other) for one in _paths(changes) for other in others)

    def _do(self, clone: Checkpoints, reached: Reached, step: _Step) -> Reached:
        with self._recorded(step.id):
            result = self._recorder.take_from(clone, reached.snapshot, step.after)
        reached = Reached(
            *(step.after, step.call, reached.before),
            (*reached.conflicts, *((one.path, one.beside) for one in result.conflicts)),
            (*reached.skipped, *((one.path, str(one.why)) for one in result.skipped)),
        )
        self._keep(reached)
        return reached

    def told(self, reached: Reached) -> TakenBack:
        """Return what came of it, all being *reached*."""
        if not (reached.changes or reached.conflicts or reached.skipped):
            return TakenBack((), "It changed no file that was not so already.")
        lines = [f"Its changes are in the folder: {_listed(reached.changes)}."]
        lines += [self._told_conflict(path, beside) for path, beside in reached.conflicts]
        lines += [f"Not brought back: {visible(path)}: {why}." for path, why in reached.skipped]
        return TakenBack(reached.changes, "\n".join(lines))

    def _told_conflict(self, path: str, beside: str) -> str:
        """Return what the model is told of a file that both sides changed in the same place."""
        head = (
            f"Conflict: {visible(path)} was changed in the same lines meanwhile and is "
            f"left as it was. The helper's version is {visible(beside)}; decide, then "
            "delete that file."
        )
        from utils.text.line_diff import text_diff  # hardly ever needed

        try:
            ours, theirs = ((self._root / name).read_bytes().decode() for name in (path, beside))
        except (OSError, UnicodeDecodeError):
            return head
        difference = text_diff(ours, theirs).diff[:_MAX_DIFF]
        return f"{head} Its version as a difference to yours:\n{difference}"


def _paths(changes: Sequence[Change]) -> list[str]:
    return [path for one in changes for path in (one.path, one.new_path) if path]


def _is_near(one: str, other: str) -> bool:
    """Return whether what is done to one path may touch the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _listed(changes: Sequence[Change]) -> str:
    paths = [f"{one.kind} {visible(one.new_path or one.path)}" for one in changes]
    more = [f"and {len(paths) - _MAX_LISTED} more"] if len(paths) > _MAX_LISTED else []
    return ", ".join([*paths[:_MAX_LISTED], *more]) or "none"
