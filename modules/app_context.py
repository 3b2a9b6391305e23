"""Everything that all terminals on one project share: its folder, and where its data is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from modules.files.git.temporary_folder import exclude_project
from modules.files.own_code import OwnCode
from modules.files.project import Project
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from utils.frozen import frozen
from utils.i18n import Phrase, UserError, phrase
from utils.logger import FailureLog


@frozen
class AppContext:
    """A project with its data, opened."""

    project: Project
    data: DataFolder
    store: Sessions
    failures: FailureLog

    @classmethod
    def of(
        cls,
        folder: Path,
        data_dir: Path,
        secrets: Sequence[str],
        *,
        root: Path,
        loader_paths: Iterable[str] = (),
        may_be_whole_disk: bool = False,
    ) -> AppContext:
        """Open the project *folder* and its part of *data_dir*; no log will tell *secrets*.

        *root* is Onefold's own folder, *loader_paths* is what else is loaded: see `OwnCode`. Raises
        `UserError` when one of the folders cannot be used.
        """
        own_code = OwnCode.find(folder, root, data_dir, loader_paths)
        project = Project(
            folder, hidden=[data_dir], own_code=own_code, may_be_whole_disk=may_be_whole_disk
        )
        exclude_project(project.root)
        data = DataFolder(data_dir, project.root)
        if data.git_record.exists():  # a run was cut short, and no git may see what it left
            from modules.sandbox.git.shared_protection import git_protection_of

            git_protection_of(project.root, data.git_record).recover()
        return cls(project, data, Sessions(data.sessions), FailureLog(data.log, secrets))


def work_folder(given: str | None, checkout: Path | None, notify: Callable[[Phrase], None]) -> Path:
    """Return the folder *given*, or the current one; for our own *checkout*, a folder inside it.

    Raises `UserError` when there can be no such folder.
    """
    try:
        folder = Path(given or ".").expanduser().resolve()
        if checkout is None or folder != checkout:
            return folder
        folder = checkout / "workspace"
        folder.mkdir(exist_ok=True)
    except (OSError, RuntimeError, ValueError) as error:  # ValueError: a NUL in the name
        why = str(error)
        raise UserError(phrase("Cannot use the project folder: {why}.", why=why)) from None
    notify(phrase("Working in {path} instead of Onefold's own folder.", path=str(folder)))
    return folder
