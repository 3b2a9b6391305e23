"""Stand-in of a repository that programs may write to, and taking over what they did there.

A program never writes to the repository itself. What it finds there is a folder of ours with
copies of the state (branches, HEAD, the index, what is under way), config and rules; the objects
of the repository are read from where they are, and new ones stay in the stand-in. After the run we
look at what changed, take over what is state and in order, all or nothing, and nothing else: so
git can be used for all that changes only this repository, and nothing that git would run or
include on the person's side is ever written.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from modules.files.git.common_dir import read_regular_file
from modules.files.git.isolated_git import (
    IsolatedGit,
    has_git,
    isolated_git,
    isolated_repository,
)
from modules.files.git.lfs import OBJECTS, take_objects
from modules.files.git.linked_tree import linked_tree
from modules.files.git.state_changes import (
    GitState,
    GitStateChange,
    StateLocked,
    StateMoved,
    apply_changes,
    changes_between,
)
from modules.files.git.state_names import is_state_file, own_name, split_submodule
from modules.files.git_remotes.config_file import ConfigChanges, write_config
from modules.files.git_remotes.program_settings import changed_settings
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.filesystem.mount_points import MountPoints, is_empty_folder
from modules.sandbox.git.added_submodules import AddedSubmodule, make_added, places_added
from modules.sandbox.git.alternates import ALTERNATES, Alternates, AlternatesNotPlain
from modules.sandbox.git.clone_objects import MAX_BYTES, bring_objects
from modules.sandbox.git.git_command import make_git_command, name_repository
from modules.sandbox.git.new_repository import init_settings, make_skeleton, put_in_place
from modules.sandbox.git.object_quarantine import ObjectQuarantine, ObjectsRefused
from modules.sandbox.git.person_rules import (
    FILES_IN_SANDBOX,
    contents_of,
    quoted,
    settings_of,
    settings_that_name,
)
from modules.sandbox.git.plain_config import WORKTREE_CONFIG, has_plain_config, is_of_tree
from modules.sandbox.git.stand_in_files import (
    NotPlain,
    Stamps,
    check_sizes,
    copy_file,
    empty_folder,
    is_copied,
    make_folder,
    read_state,
    remove_folder,
    stamp_at,
    stamps_in,
    tokens,
)
from modules.sandbox.git.state_check import StateRefused, check_changes, object_ids
from modules.sandbox.git.submodules import Submodules, with_submodules_of_removed_trees
from modules.sandbox.git.takeover_journal import TakeoverJournal
from modules.sandbox.git.work_trees import WorkTrees
from utils.i18n import Phrase, UserError, phrase
from utils.system.child import TimedOut
from utils.text.clean import visible
from utils.text.lines import first_names

OBJECTS_IN_SANDBOX = "/run/git-objects"
"""Where a program finds the objects of the repository, read-only."""
LFS_IN_SANDBOX = "/run/lfs/objects"
"""Where git-lfs finds the contents of the repository: beside the objects, as it is with others."""
_LFS_PROGRAM = Path("/usr/bin/git-lfs")
_LFS_SETTINGS = """\
[filter "lfs"]
\tclean = git-lfs clean -- %f
\tsmudge = git-lfs smudge -- %f
\tprocess = git-lfs filter-process
\trequired = true
[lfs]
\trepositoryformatversion = 0
\tskipDownloadErrors = true
"""
"""Where a content is not here, its pointer stays. git-lfs would write the version itself."""
MODULES_IN_SANDBOX = "/run/git-modules"
"""Where it finds the folders of the submodules' repositories, for their objects: in one of the name
that they have in the repository.
"""

_NOT_PLAIN = ("commondir", "reftable")
_NOTHING = "nothing"  # an empty file
_IDENTITY = "identity"  # settings that say who commits, and where they are shown
_IDENTITY_IN_SANDBOX = Path("/etc/gitconfig")
_UNTOLD = re.compile(
    r"(.*/)?[^/]*\.lock|(.*/)?([A-Z_]*_EDITMSG|FETCH_HEAD|MERGE_RR|NOTES_MERGE_\w+)|rr-cache/.*"
    r"|gc\.(log|pid)|info/refs|lfs/.*|ADD_EDIT\.patch|.*/gpg_sign_opt|description|hooks/.*\.sample"
    r"|(worktrees/[^/]+/)?sharedindex\.[0-9a-f]{40}"
)
"""Files that git makes beside the state, of which nobody needs to hear that they are not kept."""
_UNTOLD_IF_NEW = frozenset({"config", "info/exclude"})
"""Files that `git init` makes, of which a new repository gets our own."""
_OWN_HOOKS = re.compile(rb"^\s*hooksPath\s*=", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(rb" (\d+)\.(\d+)")
_HAS_SYSTEM_VARIABLE = (2, 32)  # GIT_CONFIG_SYSTEM
_ATTEMPTS = 3
_SKELETON = ("refs/heads", "refs/tags", "objects/info", "objects/pack", "info", "logs", "hooks")

Reader = Callable[[str], bytes]


class GitStandIn:
    """Stand-in of the repository of *project*, in a folder of its own in *cache_folder*.

    One run at a time has it. It is gone with us. Where there is no repository a run may make one,
    *mount_points* being those of the project. The person's hooks run in it if they *want_hooks*.
    """

    def __init__(
        self,
        project: Path,
        cache_folder: Path,
        mount_points: MountPoints | None = None,
        *,
        wants_hooks: bool = False,
        shows: Callable[[Path], bool] = lambda _: False,
    ) -> None:
        """*shows* says whether programs see a folder elsewhere, and cannot write to it."""
        linked = linked_tree(project)
        self._git = linked.common if linked else project / ".git"
        self._trees = WorkTrees(project, self._git, linked)
        self._cache_folder = cache_folder
        self._mount_points = mount_points
        self._journal = TakeoverJournal(self._git, cache_folder)
        self._journal.recover()
        self._wants_hooks = wants_hooks
        self._alternates = Alternates(_seen_beside_own(self._git, shows))
        self._is_new = False  # whether there is no repository before the run
        self._lock = threading.Lock()
        self._outer: Path | None = None
        self._command: Path | None = None  # that programs find it by, where it is not mounted
        self._real: Stamps = {}
        self._submodules = Submodules()
        self._added: dict[str, AddedSubmodule] = {}  # by a run that is over
        self._borrowed: dict[str, tuple[Path, ...]] = {}  # alternates, by the same folders
        self._configs: dict[str, bytes] = {}  # files of settings by name, as programs find them
        self._version: tuple[int, int] | None = None  # of git, once it was asked for
        self._own: Stamps | None = None  # None: it has to be filled anew

    def folder(self, *, is_new: bool = False) -> Path | None:
        """Return the folder to show at `.git`; None where the repository is shown read-only.

        *is_new* says that there is none, and that its name is kept free for programs to make one.
        """
        try:
            if not (self._is_missing() if is_new else self._is_plain()):
                return None
            if self._outer is None:
                self._outer, lock_fd = make_folder(self._cache_folder)
                weakref.finalize(self, remove_folder, self._outer, lock_fd)
                for name in (_NOTHING, _IDENTITY, *FILES_IN_SANDBOX):
                    (self._outer / name).touch()
        except OSError:
            return None
        return self._outer / "git"

    def exposed(self) -> tuple[tuple[Path, Path], ...]:
        """Return the files with what is the person's own, and where to show them: who commits in
        other repositories, and their rules.

        They are there once the `folder` was asked for, and say so from the first loan on.
        """
        if self._outer is None:
            return ()
        rules = ((self._outer / key, place) for key, place in FILES_IN_SANDBOX.items())
        return (self._outer / _IDENTITY, _IDENTITY_IN_SANDBOX), *rules

    def command(self) -> Path | None:
        """Return the folder of the command `git` by which programs find it where nothing can be
        mounted; None where there is none, as for all but linked work trees.
        """
        if self._command is None and self._trees.linked and (stand_in := self.folder()):
            folder = stand_in.parent / "command"
            try:
                is_made = make_git_command(folder, self._git, stand_in)
            except (OSError, TimedOut):
                remove_scratch(folder)
                is_made = False
            self._command = folder if is_made else None
        return self._command

    def settings_below(self) -> str:
        """Return what git is to know of the person where programs write to the repository itself.

        The settings of a repository go before it. "" where it is none of the usual kind, and for a
        git that cannot be led to them (before 2.32).
        """
        try:
            if not (self._is_plain() and self._can_be_led()):
                return ""
            lines = ["[gc]", "\tauto = 0", "[maintenance]", "\tauto = false", *self._person()]
            lines += settings_of(self._isolated().common_dir.config.rules)
        except (OSError, NotPlain, UserError, TimedOut):
            return ""
        return "\n".join([*lines, _LFS_SETTINGS if _LFS_PROGRAM.exists() else ""])

    def rules_below(self) -> tuple[tuple[str, bytes], ...]:
        """Return what is in the person's files of rules, by the setting that names each."""
        try:
            return tuple(contents_of(self._isolated().common_dir.config.rules))
        except (OSError, NotPlain, UserError, TimedOut):
            return ()

    @property
    def place(self) -> Path:
        """The repository in the place of which it is shown."""
        return self._git

    def bring_objects(self, clones: Iterable[Path]) -> None:
        """Bring clones of the repository that runs have made the objects that they found here.

        One that cannot be completed stays without.
        """
        left = MAX_BYTES
        for clone in clones:
            with suppress(OSError):
                left -= bring_objects(clone, self._git / "objects", self._seen(""), left)

    def hooks(self) -> Path | None:
        """Return the folder of the person's hooks, to show there; None if they do not want them."""
        hooks = self._git / "hooks"
        return hooks if self._wants_hooks and hooks.is_dir() and not hooks.is_symlink() else None

    def submodules(self) -> Submodules:
        """Return the submodules whose repositories lie in it; all read-only if we cannot look.

        So they are for programs that find it by a command: git finds these by itself.
        """
        if self._command is None:
            with suppress(OSError):
                return self._trees.submodules(self._alternates)
        return self._trees.all_read_only()

    def covered(self, submodules: Submodules) -> tuple[tuple[Path, str], ...]:
        """Return the files to cover where programs find the objects, and with what: those that say
        where more are, which the stand-in says as programs see it.
        """
        if self._outer is None:
            return ()
        places = ("", *submodules.plain)
        named = (place for place in places if os.path.lexists(self._git / place / ALTERNATES))
        return tuple(
            (self._outer / _NOTHING, f"{self._seen(place)}/info/alternates") for place in named
        )

    def why_unseen(self) -> Phrase | None:
        """Return what to do about objects elsewhere that programs do not see, if there are any."""
        return self._alternates.why_unseen(self._git)

    def lfs(self) -> Path | None:
        """Return the folder of the contents of git-lfs, to show read-only; None if there is none.

        Of submodules they are in the folder of these.
        """
        folder = self._git / OBJECTS
        is_plain = folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink()
        return folder if is_plain else None

    @contextmanager
    def borrowed(self, *, is_new: bool = False) -> Iterator[bool]:
        """Have it for a run, filled; yield whether that could be done. *is_new* as in `folder`."""
        if not self._lock.acquire(blocking=False):
            yield False
            return
        try:
            yield self._prepare(is_new=is_new)
        finally:
            self._lock.release()

    def take_over(self) -> list[Phrase]:
        """Take over what the run that is over did; return notes on what was not."""
        try:
            notes: list[Phrase] = []
            changed, foreign, places = self._changes()
            if changed is not None:
                settings = self._program_settings(foreign)
                notes = [_foreign_note(foreign)] if foreign else []
                self._own = None
                self._take_over(changed, settings, places)
            notes += self._name_repository()
        except (StateRefused, ObjectsRefused) as refused:
            return [_refusal_note(refused.why)]
        except StateMoved as moved:
            why = phrase("{name} was changed by somebody else meanwhile", name=visible(moved.name))
            return [_refusal_note(why)]
        except StateLocked as locked:
            why = phrase("another git holds {name}", name=visible(locked.name))
            return [_refusal_note(why)]
        except (NotPlain, ValueError):
            self._own = None
            return [_refusal_note(phrase("it left what git does not write"))]
        except OSError as error:
            self._own = None
            return [_refusal_note(phrase("system error: {why}", why=error.strerror or "?"))]
        finally:
            self._added = {}
        return notes

    @property
    def _repository(self) -> Path:
        """The repository that is changed after a run: a new one is made apart, to be moved."""
        if not self._is_new:
            return self._git
        assert self._outer is not None  # noqa: S101 - `folder` made it
        return self._outer / "new/.git"

    def _repository_of(self, place: str) -> Path:
        """The repository in the folder *place*, an added submodule as long as it is made apart."""
        added = self._added.get(place)
        return added.made if added else self._repository / place

    def _is_missing(self) -> bool:
        """Return whether there is no repository, and one may be made."""
        if self._mount_points is None or not has_git():
            return False
        return not os.path.lexists(self._git) or is_empty_folder(self._git)

    def _is_plain(self) -> bool:
        """Return whether it is a repository of the usual kind, whole in one folder."""
        git, linked = self._git, self._trees.linked
        if linked and linked_tree(linked.project) != linked:
            return False
        if not (has_git() and git.is_dir() and not git.is_symlink()):
            return False
        if any(os.path.lexists(git / name) for name in _NOT_PLAIN):
            return False
        return has_plain_config(git) and self._alternates.is_seen(git)

    def _prepare(self, *, is_new: bool) -> bool:
        folder = self.folder(is_new=is_new)
        if folder is None:
            return False
        try:
            if folder.is_dir():
                folder.chmod(0o700)  # a program may have closed it
            for _ in range(_ATTEMPTS):
                submodules = Submodules() if is_new else self.submodules()
                real = self._real_stamps(submodules, is_new=is_new)
                is_same = is_new == self._is_new and real == self._real
                borrowed = {} if is_new else self._borrowed_by(submodules)
                is_same &= (submodules, borrowed) == (self._submodules, self._borrowed)
                if self._own is not None and is_same and self._own == stamps_in(folder):
                    return True
                self._own = None
                self._is_new, self._real, self._submodules = is_new, real, submodules
                self._borrowed = borrowed
                self._fill(folder)
                self._write_own(folder.parent)
                # Nobody wrote there meanwhile:
                if self._real_stamps(submodules, is_new=is_new) == real:
                    self._own = stamps_in(folder)
                    return True
        except (OSError, NotPlain, AlternatesNotPlain, UserError, TimedOut):
            self._own = None
        return False

    def _write_own(self, outer: Path) -> None:
        """Write to the files in *outer* what is the person's own."""
        rules = self._isolated().common_dir.config.rules
        contents = dict(contents_of(rules))
        files = {key: place for key, place in FILES_IN_SANDBOX.items() if key in contents}
        lines = [*self._person(), *settings_of(rules), *settings_that_name(files)]
        (outer / _IDENTITY).write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
        for key, content in contents.items():
            (outer / key).write_bytes(content)

    def _borrowed_by(self, submodules: Submodules) -> dict[str, tuple[Path, ...]]:
        """Return the alternates of each repository that programs may change."""
        places = ("", *submodules.plain)
        return {place: self._alternates.of(self._git / place) for place in places}

    def _real_stamps(self, submodules: Submodules, *, is_new: bool) -> Stamps:
        found = {} if is_new else stamps_in(self._git, is_copied)
        places = {"", *submodules.plain}
        return {name: stamp for name, stamp in found.items() if split_submodule(name)[0] in places}

    def _fill(self, folder: Path) -> None:
        if self._is_new:
            empty_folder(folder, set())
            make_skeleton(self._repository)
            settings = self._settings() + init_settings(self._isolated())
            (folder / "config").write_bytes(settings.encode("utf-8", "surrogateescape"))
            return
        others = self._submodules.others
        empty_folder(folder, others)
        skeletons = (f"{place}{name}" for place in self._places for name in _SKELETON)
        for name in (*skeletons, *others):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in self._real:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_file(self._git / name, target)
        added = self._settings().encode("utf-8", "surrogateescape")
        for place in self._places:
            trees = () if place else sorted(filter(is_of_tree, self._real))
            for name in (f"{place}config", f"{place}{WORKTREE_CONFIG}", *trees):
                if (path := folder / name).exists():
                    with path.open("ab") as file:
                        file.write(added)
                    self._configs[name] = path.read_bytes()
            borrowed = map(self._seen_at, self._borrowed[place])
            lines = (f"{one}\n" for one in (self._seen(place), *borrowed))
            (folder / place / ALTERNATES).write_bytes(os.fsencode("".join(lines)))

    def _seen(self, place: str) -> str:
        """Return where programs find the objects of the repository in the folder *place*."""
        if self._command:
            return str(self._git / place / "objects")
        return f"{MODULES_IN_SANDBOX}/{place}objects" if place else OBJECTS_IN_SANDBOX

    def _seen_at(self, objects: Path) -> str:
        """Return where programs find the folder *objects*, from which a repository borrows."""
        if self._git == objects.parent:
            return self._seen("")
        inner = self._git in objects.parents
        place = f"{objects.parent.relative_to(self._git).as_posix()}/" if inner else ""
        return self._seen(place) if place in self._submodules.plain else str(objects)

    @property
    def _places(self) -> tuple[str, ...]:
        """The folders of the repositories that programs may change, each ending with `/`."""
        return ("", *self._submodules.plain, *self._added)

    def _settings(self) -> str:
        """Return settings that hold in the stand-in alone: who commits, and nothing that waits."""
        lines = ["\n[gc]", "\tauto = 0", "[maintenance]", "\tauto = false", "[core]",
                 "\tfsmonitor = false", "\tuntrackedCache = false", "\tsplitIndex = false",
                 "[index]", "\tsparse = false", "[core]",  # one that names folders is not taken
                 *self._hooks_setting(),
                 "[commit]", "\tgpgSign = false", "[tag]", "\tgpgSign = false"]  # fmt: skip
        lines += self._person()
        return "\n".join([*lines, _LFS_SETTINGS if _LFS_PROGRAM.exists() else ""])

    def _can_be_led(self) -> bool:
        if self._version is None:
            said = _VERSION.search(self._isolated().run("version").output)
            self._version = (int(said[1]), int(said[2])) if said else (0, 0)
        return self._version >= _HAS_SYSTEM_VARIABLE

    def _person(self) -> tuple[str, ...]:
        person = self._isolated().common_dir.config
        if not (person.name and person.email):
            return ()
        name, email = quoted(person.name), quoted(person.email)
        return "[user]", f"\tname = {name}", f"\temail = {email}"

    def _hooks_setting(self) -> tuple[str, ...]:
        if not self._wants_hooks:
            return ("\thooksPath = /dev/null",)
        is_elsewhere = self._command and not _OWN_HOOKS.search(
            read_regular_file(self._git / "config")
        )
        return (f"\thooksPath = {quoted(str(self._git / 'hooks'))}",) if is_elsewhere else ()

    def _isolated(self, place: str = "") -> IsolatedGit:
        folder = self._repository_of(place)
        tree = self._trees.linked.project if self._trees.linked else folder.parent
        git = isolated_repository(folder) if place else isolated_git(tree)
        if git is None:
            raise NotPlain
        return git

    def _changes(self) -> tuple[list[GitStateChange] | None, list[str], set[str]]:
        """Return what a run changed of the state, None for nothing at all, and what else it did.

        Also the folders of the repositories, the project's own and submodules', that it changed.
        """
        assert self._outer is not None  # noqa: S101 - it was borrowed
        own = self._own or {}
        folder = self._outer / "git"
        after = stamps_in(folder)
        if after == own or (self._is_new and "HEAD" not in after):
            return None, [], set()
        after = with_submodules_of_removed_trees(own, after, self._places)
        self._add_submodules(after)
        check_sizes({name: stamp for name, stamp in after.items() if stamp != own.get(name)})
        names = [one for one in after.keys() | own.keys() if after.get(one) != own.get(one)]
        foreign = [name for name in names if self._is_foreign(folder, name)]
        places = {"", *(self._place_of(name)[0] for name in names)}
        before_state = GitState(self._state_tokens(own), self._reader_before(folder, after))
        after_state = GitState(self._state_tokens(after), lambda name: read_state(folder, name))
        return changes_between(before_state, after_state), sorted(foreign), places

    def _add_submodules(self, after: Stamps) -> None:
        """Have those made that a run has added, their files being among those *after* it."""
        assert self._outer is not None  # noqa: S101 - it was borrowed
        if self._is_new or self._command:
            return
        places = places_added(after, self._submodules, self._trees.roots())
        for number, place in enumerate(places):
            scratch = self._outer / f"added-{number}"
            remove_scratch(scratch)
            stand_in, tree = self._outer / "git", self._trees.project
            if made := make_added(place, stand_in, self._git, tree, scratch):
                self._added[place] = made

    def _name_repository(self) -> list[Phrase]:
        """Have work trees that found us by name lead to the repository, which has them by now.

        Returns notes on those for which that cannot be.
        """
        if not (self._command and self._trees.linked):
            return []
        trees = self._command.parent / "git/worktrees"
        return name_repository(self._trees.linked.project, trees, self._git)

    def _state_tokens(self, stamps: Stamps) -> dict[str, str]:
        return {name: token for name, token in tokens(stamps).items() if self._place_of(name)[1]}

    def _place_of(self, name: str) -> tuple[str, str]:
        """Return the folder of the repository that *name* is in, and its name there.

        Both are "" for what is in none that programs may change.
        """
        place, own = split_submodule(name)
        return (place, own) if place in self._places else ("", "")

    def _is_foreign(self, folder: Path, name: str) -> bool:
        """Return whether the file *name* in *folder*, changed by a run, is not kept, and told."""
        own = self._place_of(name)[1]
        if not own:
            return True
        if is_state_file(name) or _UNTOLD.fullmatch(own):
            return False
        if own.startswith("objects/"):
            return own == ALTERNATES
        if name in self._configs and self._is_config_same(folder, name):
            return False
        is_new = self._is_new or self._place_of(name)[0] in self._added
        return not (is_new and own in _UNTOLD_IF_NEW)

    def _is_config_same(self, folder: Path, name: str) -> bool:
        """Return whether a run has only written the settings *name* anew, as some commands do."""
        return read_regular_file(folder / name) == self._configs.get(name)

    def _reader_before(self, folder: Path, after: Stamps) -> Reader:
        """Return what reads a file of the state as it was before the run.

        What a run has changed is read from the repository, if nobody changed it there meanwhile.
        """
        own = self._own or {}

        def read_before(name: str) -> bytes:
            if after.get(name) == own[name]:
                return read_state(folder, name)
            if stamp_at(self._git / name) != self._real[name]:
                raise StateMoved(name)
            return read_state(self._git, name)

        return read_before

    def _program_settings(self, foreign: list[str]) -> dict[str, ConfigChanges]:
        """Return which settings that programs may change are others now, by the folder of their
        repository.

        *foreign* is left without what only says so.
        """
        assert self._outer is not None  # noqa: S101 - it was borrowed
        found: dict[str, ConfigChanges] = {}
        before, after = (self._outer / f"config-{when}" for when in ("before", "after"))
        for name in [name for name in foreign if self._place_of(name)[1] == "config"]:
            place = self._place_of(name)[0]
            if self._is_new:
                continue
            before.write_bytes(self._configs[name])
            after.write_bytes(read_regular_file(self._outer / "git" / name) or b"\0")
            found[place], is_all = changed_settings(self._isolated(place), before, after)
            if is_all:
                foreign.remove(name)
        return found

    def _take_over(
        self,
        changes: list[GitStateChange],
        settings: dict[str, ConfigChanges],
        places: set[str],
    ) -> None:
        """Take over *changes* and the objects of the repositories in *places*, all or nothing."""
        for place in sorted(places):
            own = [
                replace(change, name=own_name(change.name))
                for change in changes
                if split_submodule(change.name)[0] == place
            ]
            self._take_over_objects(place, own)
            if place in self._added:
                self._added[place].apply(own)
        if self._is_new:
            (self._repository / "HEAD").unlink()
            apply_changes(self._repository, changes)
        else:
            self._apply(changes)
        if self._is_new and self._mount_points:
            put_in_place(self._repository, self._git, self._mount_points)
        for place, one in settings.items():
            write_config(self._isolated(place), self._repository / place / "config", one)

    def _apply(self, changes: list[GitStateChange]) -> None:
        """Make *changes* in the repository, with the submodules that were added whole."""
        rest = [one for one in changes if split_submodule(one.name)[0] not in self._added]
        in_place: list[AddedSubmodule] = []
        try:
            for place in sorted(self._added):
                self._added[place].put_in_place(self._git)
                in_place.append(self._added[place])
            if rest:
                self._journal.apply(rest)
        except (StateMoved, StateLocked, ValueError):  # before anything else was changed
            for one in reversed(in_place):
                one.take_away(self._git)
            raise

    def _take_over_objects(self, place: str, changes: list[GitStateChange]) -> None:
        """Check *changes* of the repository in the folder *place*, and take over its objects."""
        assert self._outer is not None  # noqa: S101 - it was borrowed
        folder = self._outer / "git" / place
        if not place:
            self._trees.check(folder, changes)
        named = check_changes(changes, is_clone=place in self._added)
        git = self._isolated(place)
        with tempfile.TemporaryDirectory(prefix="taken-", dir=self._outer) as scratch:
            quarantine = ObjectQuarantine(git, folder / "objects", Path(scratch))
            quarantine.take_over()
            ids = named.all
            kinds = dict(zip(ids, quarantine.kinds_of(ids), strict=True))
            wrong = [one for one, kind in kinds.items() if kind == "missing"]
            wrong += [one for one in named.commits if kinds.get(one) != "commit"]
            if wrong:
                why = phrase("it names an object that is not there: {name}", name=wrong[0])
                raise StateRefused(why)
            quarantine.check_tips(object_ids(changes))
        if wrong := take_objects(folder, self._repository_of(place)):
            raise StateRefused(
                phrase("{name} is another content than its name says", name=wrong[0])
            )


def _seen_beside_own(git: Path, shows: Callable[[Path], bool]) -> Callable[[Path], bool]:
    """Return what tells whether programs see a folder of objects: one that *shows* names, or that
    of the repository *git* or of a submodule of its main tree.

    A submodule of a linked tree borrows from the main one by `git submodule update --reference`.
    """

    def is_seen(folder: Path) -> bool:
        of_submodule = git / "modules" in folder.parents and folder.name == "objects"
        has_head = of_submodule and (folder.parent / "HEAD").is_file()
        return shows(folder) or folder == git / "objects" or has_head

    return is_seen


def _foreign_note(names: list[str]) -> Phrase:
    return phrase(
        "Not kept, for git obeys it or it is none of a repository's state: {names}",
        names=first_names([visible(f".git/{name}") for name in names]),
    )


def _refusal_note(why: Phrase) -> Phrase:
    return phrase(
        "What git did in this run was not kept: {why}. Branches, HEAD and the index are as before "
        "it; the files are as the run left them.",
        why=why,
    )
