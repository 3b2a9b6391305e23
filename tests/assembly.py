"""Fixture of the real assembly, features and store included, on a scripted model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from config import Settings
from core.main_terminal import MainTerminal
from modules.files.project import Project
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from modules.toolbox import build_features
from tests.scripted_model import Item, ScriptedModel
from utils.frozen import frozen
from utils.waiting import Stop


@frozen(kw_only=True)
class HermeticSettings(Settings):
    """Settings that know nothing of the environment in which the tests run."""

    known_secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def secrets(self) -> dict[str, str]:
        return dict(self.known_secrets)

    @property
    def git_variables(self) -> dict[str, str]:
        return {"PATH": os.defpath, "HOME": str(Path.home())}

    @property
    def person_environment(self) -> dict[str, str]:
        return {}


SETTINGS = HermeticSettings(context_limit=1_000_000, checkpoint_total_mb=1_000)


@dataclass(frozen=True)
class AssembledTerminal:
    """A terminal with the folder it works in."""

    terminal: MainTerminal
    root: Path
    data: DataFolder
    store: Sessions

    @property
    def model(self) -> ScriptedModel:
        assert isinstance(self.terminal.model, ScriptedModel)
        return self.terminal.model


@contextmanager
def assembled_terminal(
    base: Path,
    *replies: list[Item],
    root: Path | None = None,
    model: Any = None,
    app_settings: HermeticSettings | None = None,
    more_features: Sequence[Any] = (),
    **settings: Any,
) -> Iterator[AssembledTerminal]:
    """Build a terminal on the project *root*, `base/project` unless it is said; again on the same
    *base* is a new start. *model* takes the place of the scripted one."""
    root = root or base / "project"
    root.mkdir(exist_ok=True)
    project = Project(root, hidden=[base / "data"])
    data = DataFolder(base / "data", root)
    store = Sessions(data.sessions)
    stop = Stop()
    its_settings = replace(app_settings or SETTINGS, data_dir=base / "data")
    features: Sequence[Any] = build_features(
        project, data, store, stop, its_settings, "You are a test."
    )
    terminal = MainTerminal(
        model=model or ScriptedModel(*replies),
        feature_list=[*features, *more_features],
        store=store,
        project="project",
        system_prompt="You are a test.",
        stop=stop,
        **settings,
    )
    try:
        yield AssembledTerminal(terminal, root, data, store)
    finally:
        terminal.close()
        store.close()
        project.close()
