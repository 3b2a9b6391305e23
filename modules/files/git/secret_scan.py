"""Scanning of what is to be published for secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from modules.files.git.git_runs import GitRuns
from utils.text.clean import visible
from utils.text.keys import keys_in
from utils.text.lines import first_names

MAX_FILE = 5_000_000  # bytes of a file
MAX_TOTAL = 50_000_000  # bytes of all files at once
_FIND = ("grep", "-a", "-h", "-o", "-F", "--no-line-number", "--no-column", "--no-color",
         "--no-recurse-submodules", "--no-textconv", "-f", "-")  # fmt: skip
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")

SecretNamesIn = Callable[[str], Iterable[str]]
"""Returns the names of the secrets that a text holds."""
Secrets = Mapping[bytes, Sequence[str]]
"""The names of the secrets that would be published for the first time, by file."""


def read_objects(
    git: GitRuns, object_ids: Sequence[bytes]
) -> tuple[dict[bytes, bytes], set[bytes]]:
    """Return the contents of *object_ids*, and those that are missing or too large to read."""
    wanted, too_large, remaining = list[bytes](), set[bytes](), MAX_TOTAL
    for object_id, size in zip(object_ids, _sizes(git, object_ids), strict=True):
        if size > min(MAX_FILE, remaining):
            too_large.add(object_id)
        else:
            wanted.append(object_id)
            remaining -= size
    return dict(zip(wanted, _contents(git, wanted), strict=True)), too_large


def _sizes(git: GitRuns, objects: Sequence[bytes]) -> list[int]:
    stdin = b"".join(one + b"\n" for one in objects)
    output = git.run("cat-file", "--batch-check=%(objectsize)", stdin=stdin) if stdin else b""
    return [int(size) if size.isdigit() else MAX_TOTAL for size in output.splitlines()]


def _contents(git: GitRuns, objects: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the content of each of *objects*, nothing for one that is missing."""
    stdin = b"".join(one + b"\n" for one in objects)
    output = git.run("cat-file", "--batch=%(objectsize)", stdin=stdin) if stdin else b""
    start = 0
    for _ in objects:
        end = output.index(b"\n", start)
        size = output[start:end]
        start = end + 1
        if not size.isdigit():
            yield b""
            continue
        yield output[start : start + int(size)]
        start += int(size) + 1


def secret_names_of(data: bytes, secret_names_in: SecretNamesIn) -> set[str]:
    """Return the names of the secrets in *data*; of a private key, that it is one."""
    key = {"PRIVATE KEY"} if _PRIVATE_KEY.search(data) else set[str]()
    return {*secret_names_in(_text_of(data)), *key}


def unknown_keys(data: bytes, secret_names_in: SecretNamesIn) -> dict[str, str]:
    """Return the keys in *data* that have no name, each with how to show it."""
    keys = keys_in(_text_of(data))
    return {key: shown for key, shown in keys.items() if not secret_names_in(key)}


def published_keys(git: GitRuns, keys: Iterable[str], commits: Sequence[str]) -> set[str]:
    """Return those of *keys* that stand in the files of one of *commits* already."""
    stdin = b"".join(key.encode() + b"\n" for key in keys)
    if not stdin or not commits:
        return set()
    found = git.split_output(*_FIND, *commits, "--", stdin=stdin, may_fail=True, end=b"\n")
    return {line.decode(errors="replace") for line in found}


def new_keys(
    git: GitRuns,
    contents: Mapping[bytes, bytes],
    secret_names_in: SecretNamesIn,
    commits: Sequence[str],
) -> dict[bytes, set[str]]:
    """Return how to show the keys without a name in each of *contents* that *commits* lack."""
    keys = {name: unknown_keys(data, secret_names_in) for name, data in contents.items()}
    known = published_keys(git, {key for one in keys.values() for key in one}, commits)
    return {
        name: {shown for key, shown in found.items() if key not in known}
        for name, found in keys.items()
    }


def _text_of(data: bytes) -> str:
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if is_wide else "utf-8", "replace")


def secrets_in_commits(
    git: GitRuns, span: Sequence[str], secret_names_in: SecretNamesIn
) -> tuple[Secrets, int]:
    """Return the secrets in the files and messages of the commits in *span*, of `git rev-list`, and
    in that of a tag.

    Beside them how many of the files are too large to be searched.
    """
    rows = git.run("rev-list", "--objects", *span, "--").split(b"\n")[:-1]
    paths = {object_id: path for object_id, _, path in (row.partition(b" ") for row in rows)}
    contents, too_large = read_objects(git, _readable(git, list(paths)))
    keys = new_keys(git, contents, secret_names_in, _base(git, span))
    found = {
        paths.get(object_id) or object_id[:10]: sorted(names)
        for object_id, data in contents.items()
        if (names := secret_names_of(data, secret_names_in) | keys[object_id])
    }
    return found, len(too_large)


def _base(git: GitRuns, span: Sequence[str]) -> list[str]:
    """Return the commits that those in *span* go on from."""
    rows = git.run("rev-list", "--boundary", *span, "--").split()
    return [row[1:].decode() for row in rows if row.startswith(b"-")]


def _readable(git: GitRuns, object_ids: Sequence[bytes]) -> list[bytes]:
    stdin = b"".join(one + b"\n" for one in object_ids)
    output = git.run("cat-file", "--batch-check=%(objecttype)", stdin=stdin) if stdin else b""
    kinds = zip(object_ids, output.splitlines(), strict=True)
    return [object_id for object_id, kind in kinds if kind in (b"blob", b"commit", b"tag")]


def format_secrets(files: Secrets) -> str:
    """Return *files* with the names of their secrets, for people."""
    return first_names(
        [f"{visible(os.fsdecode(name))} ({', '.join(why)})" for name, why in files.items()]
    )
