"""Contents of Git LFS beside the commits that name them: which go, which come, and what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git.secret_scan import SecretNamesIn, Secrets
from modules.files.git_remotes.lfs_contents import (
    LfsTransfer,
    PointerFile,
    is_here,
    pointers_in_commits,
    secrets_in_contents,
)
from modules.files.git_remotes.remote_transport import Transport
from utils.i18n import Phrase, phrase
from utils.text.lines import format_size


@dataclass(frozen=True, slots=True)
class PushedContents:
    """The contents that commits name: those *here*, which go with these, and how many are not.

    *secrets* are in those here by file, and *unscanned* of them are too large to be searched.
    """

    here: Sequence[PointerFile]
    missing: int
    secrets: Secrets
    unscanned: int

    def remarks(self) -> list[Phrase]:
        """Return what a question says of them."""
        said = []
        if self.here:
            count, size = _count_and_size(self.here)
            said += [phrase("With {count} contents of git LFS, {size}", count=count, size=size)]
        return [*said, *_missing_remarks(self.missing)]


def planned_contents(
    git: GitRuns, span: Sequence[str], secret_names_in: SecretNamesIn
) -> PushedContents:
    """Return those that the commits in *span* add, of `git rev-list`."""
    files = {file.pointer.name: file for file in pointers_in_commits(git, span)}
    here = [file for file in files.values() if is_here(git, file.pointer)]
    secrets, unscanned = secrets_in_contents(git, here, secret_names_in)
    return PushedContents(here, len(files) - len(here), secrets, unscanned)


def send_contents(
    git: GitRuns, transport: Transport, address: str, contents: PushedContents
) -> list[Phrase]:
    """Upload *contents* to the remote at *address*; return what there is to say.

    Raises `ToolError`: commits whose contents nobody else has are of no use there.
    """
    if not contents.here:
        return _missing_remarks(contents.missing)
    transfer = LfsTransfer(git, transport, address)
    if not transfer.is_installed:
        raise ToolError(
            phrase("The commits name contents of git LFS, and git-lfs is not installed.")
        )
    transfer.send([file.pointer for file in contents.here])
    count, size = _count_and_size(contents.here)
    sent = phrase("Sent {count} contents of git LFS, {size}.", count=count, size=size)
    return [sent, *_missing_remarks(contents.missing)]


def bring_contents(
    git: GitRuns, transport: Transport, address: str, files: Sequence[PointerFile]
) -> list[Phrase]:
    """Download the contents of *files* that are not here; return what there is to say.

    That some cannot be had is said, and no reason to have nothing: their pointers stay.
    """
    wanted = {file.path + file.object_id: file for file in files if not is_here(git, file.pointer)}
    if not wanted:
        return []
    count = len({file.pointer.name for file in wanted.values()})
    transfer = LfsTransfer(git, transport, address)
    if not transfer.is_installed:
        return [phrase("{count} contents of git LFS stay pointers: git-lfs is not installed.",
                       count=count)]  # fmt: skip
    said = []
    try:
        transfer.bring(list(wanted.values()))
    except ToolError as error:
        said = [phrase("git-lfs: {said}", said=str(error)[:500])]
    came = [file for file in wanted.values() if is_here(git, file.pointer)]
    if came:
        here, size = _count_and_size(came)
        told = phrase("{count} contents of git LFS came, {size}.", count=here, size=size)
        said.insert(0, told)
        count -= here
    return [*said, *([phrase("{count} contents of git LFS stay pointers.", count=count)]
                     if count else [])]  # fmt: skip


def _count_and_size(files: Sequence[PointerFile]) -> tuple[int, str]:
    sizes = {file.pointer.name: file.pointer.size for file in files}
    return len(sizes), format_size(sum(sizes.values()))


def _missing_remarks(count: int) -> list[Phrase]:
    remark = phrase("{count} contents of git LFS are not here and are not sent.", count=count)
    return [remark] if count else []
