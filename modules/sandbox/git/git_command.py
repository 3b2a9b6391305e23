"""Command `git` of programs where nothing can be mounted: it leads to the stand-in by name.

A linked work tree names its repository in a file, which the person's git reads too and which
therefore stays as it is. In this command's place a program finds one of ours, which looks where
it is as git does, and tells git of the stand-in where the file names the repository.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from modules.files.git.isolated_git import installed_git
from modules.sandbox.filesystem.held_folder import HeldFolder
from utils.i18n import Phrase, phrase
from utils.text.clean import visible

_MAX_GIT_FILE = 8_192  # bytes of a `.git` file
_SCRIPT = r"""#!/bin/sh
git={git} core={core} common={common} stand_in={stand_in}
CDPATH=
forget() {{
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_PREFIX GIT_COMMON_DIR
  unset GIT_IMPLICIT_WORK_TREE
}}

case ${{GIT_DIR-}} in
  '' | "$stand_in"/*) ;;
  *) exec "$git" "$@" ;;
esac
start=. option=
for word do
  if [ -n "$option" ]; then
    if [ "$option" = -C ]; then
      case $word in /*) start=$word ;; *) start=$start/$word ;; esac
    fi
    option=
    continue
  fi
  case $word in
    -C | -c | --namespace | --super-prefix | --config-env | --attr-source | --work-tree)
      option=$word ;;
    --git-dir | --git-dir=* | --bare) exec "$git" "$@" ;;
    -*) ;;
    init | clone) [ -z "${{GIT_DIR-}}" ] || forget; exec "$git" "$@" ;;
    *) break ;;
  esac
done
top=$(cd -- "$start" 2>/dev/null && pwd -P) || exec "$git" "$@"
while [ -n "$top" ] && ! [ -e "$top/.git" ]; do top=${{top%/*}}; done
folder=
if [ -f "$top/.git" ]; then
  IFS= read -r line 2>/dev/null <"$top/.git" || :
  folder=$(cd -- "$top" && cd -- "${{line#gitdir: }}" 2>/dev/null && pwd -P)
fi
case $folder in
  "$common"/*) folder=$stand_in${{folder#"$common"}} ;;
  "$stand_in"/*) ;;
  *) folder= ;;
esac
if [ -z "$folder" ] || ! [ -f "$folder/HEAD" ]; then
  [ -z "${{GIT_DIR-}}" ] || forget
elif [ "${{GIT_DIR-}}" != "$folder" ]; then
  [ -z "${{GIT_DIR-}}" ] || forget
  export GIT_DIR="$folder" GIT_WORK_TREE="$top" GIT_EXEC_PATH="$core"
fi
exec "$git" "$@"
"""
"""Where git calls itself it finds this command too, so that what another program does in a
repository of its own, in a hook or while git bisects, is never done to this one.
"""


def programs_of(folder: Path) -> Path:
    """Return the folder of programs in the *folder* of the command."""
    return folder / "bin"


def make_git_command(folder: Path, common: Path, stand_in: Path) -> bool:
    """Make the command in the new *folder*, for the repository *common*; return whether it can be.

    Raises `OSError` and `TimedOut`.
    """
    programs, core, git = programs_of(folder), folder / "core", installed_git()
    if git is None or os.pathsep in str(folder):
        return False
    programs.mkdir(parents=True)
    core.mkdir()
    named = {"git": git.program, "core": core, "common": common, "stand_in": stand_in}
    values = {name: shlex.quote(str(value)) for name, value in named.items()}
    command = programs / "git"
    command.write_text(_SCRIPT.format(**values), "utf-8", "surrogateescape")
    command.chmod(0o755)
    for program in git.core.iterdir():
        if program.name != "git":
            (core / program.name).symlink_to(program)
    (core / "git").symlink_to(command)
    return True


def name_repository(project: Path, trees: Path, repository: Path) -> list[Phrase]:
    """Have the work trees in *project* that runs have made name *repository*.

    *trees* is the folder where the stand-in has them, which they name as yet. Returns notes on
    those that cannot be written to.
    """
    notes: list[Phrase] = []
    for tree in sorted(trees.iterdir()) if trees.is_dir() else ():
        named = _read(tree, "gitdir").rstrip(b"\n")
        file = Path(os.fsdecode(named))
        if project not in file.parent.parents or ".." in file.parts or file.name != ".git":
            continue
        if _read(file.parent, ".git") != b"gitdir: %s\n" % os.fsencode(tree):
            continue
        content = os.fsencode(f"gitdir: {repository / trees.name / tree.name}\n")
        try:
            with HeldFolder.open(file.parent) as held:
                held.write(".git", (0o644, content))
        except OSError as error:
            why, path = error.strerror or str(error), visible(str(file))
            notes.append(phrase("Cannot write {path}: {why}.", path=path, why=why))
    return notes


def _read(folder: Path, name: str) -> bytes:
    """Return what the plain file *name* in *folder* says, b"" if it is none."""
    try:
        with HeldFolder.open(folder) as held:
            content = held.content(name, _MAX_GIT_FILE)
    except OSError:
        return b""
    return content[1] if content and content[0] >= 0 else b""
