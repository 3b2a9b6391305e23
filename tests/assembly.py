"""The real assembly, families and store and all, on a scripted model: for tests of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config import Settings
from core.main_terminal import MainTerminal
from modules.files.project import Project
from modules.sessions import Sessions
from modules.storage.data_folder import DataFolder
from modules.toolbox import families
from tests.scripted import Item, ScriptedModel
from utils.waiting import Stop


@dataclass(frozen=True, kw_only=True)
class HermeticSettings(Settings):
    """Settings that know nothing of the environment in which the tests run."""

    known_secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def secrets(self) -> dict[str, str]:
        return dict(self.known_secrets)

    @property
    def pip_variables(self) -> dict[str, str]:
        return {}


SETTINGS = HermeticSettings(context_limit=1_000_000, checkpoint_total_mb=1_000)


@dataclass(frozen=True)
class House:
    """A terminal with the folder it works in."""

    main: MainTerminal
    root: Path
    data: DataFolder
    store: Sessions

    @property
    def model(self) -> ScriptedModel:
        assert isinstance(self.main.model, ScriptedModel)
        return self.main.model


@contextmanager
def house(
    base: Path, *replies: list[Item], root: Path | None = None, model: Any = None, **settings: Any
) -> Iterator[House]:
    """Build a terminal on the project *root*, `base/project` unless it is said; again on the same
    *base* is a new start. *model* takes the place of the scripted one."""
    root = root or base / "project"
    root.mkdir(exist_ok=True)
    project = Project(root, hidden=[base / "data"])
    data = DataFolder(base / "data", root)
    store = Sessions(data.sessions)
    stop = Stop()
    members: Sequence[Any] = families(project, data, store, stop, SETTINGS, "You are a test.")
    main = MainTerminal(
        model=model or ScriptedModel(*replies),
        families=members,
        store=store,
        project="project",
        system_text="You are a test.",
        stop=stop,
        **settings,
    )
    try:
        yield House(main, root, data, store)
    finally:
        main.close()
        store.close()
        project.close()
