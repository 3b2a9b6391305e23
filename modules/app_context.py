"""What all terminals on one project share: the folder, and where things are kept about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from modules.files.git.common_dir import keep_out_of
from modules.files.own_code import OwnCode
from modules.files.project import Project
from modules.sessions import Sessions
from modules.storage.data_folder import DataFolder
from utils.i18n import Phrase, UserError, phrase
from utils.logger import FailureLog


@dataclass(frozen=True)
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
        loaded: Iterable[str] = (),
    ) -> AppContext:
        """Open the project *folder* and its part of *data_dir*; no log will tell *secrets*.

        *root* is Onefold's own folder, *loaded* is what else is loaded: see `OwnCode`. Raises
        `UserError` when one of the folders cannot be used.
        """
        own = OwnCode.of(folder, root, data_dir, loaded)
        project = Project(folder, hidden=[data_dir], own=own)
        keep_out_of(project.root)
        data = DataFolder(data_dir, project.root)
        if data.git_record.exists():  # a run was cut short, and no git may see what it left
            from modules.sandbox.filesystem.git_protection import kept_git_of

            kept_git_of(project.root, data.git_record).settle()
        return cls(project, data, Sessions(data.sessions), FailureLog(data.log, secrets))


def work_folder(said: str | None, own: Path, tell: Callable[[Phrase], None]) -> Path:
    """Return the folder *said*, or the current one; instead of Onefold's *own* a part of that.

    Raises `UserError` when there can be no such folder.
    """
    try:
        folder = Path(said or ".").expanduser().resolve()
        if folder != own:
            return folder
        folder = own / "workspace"
        folder.mkdir(exist_ok=True)
    except (OSError, RuntimeError, ValueError) as error:  # ValueError: a NUL in the name
        why = str(error)
        raise UserError(phrase("The project folder cannot be used: {why}.", why=why)) from None
    tell(phrase("Working in {path}, not in Onefold itself.", path=str(folder)))
    return folder
