"""Cleanup of our mount points in the project when we were killed and cannot do it ourselves.

It is a shell that outlives us, in a session of its own and nobody's child, and sleeps until every
copy of a descriptor is closed: ours, and that in the first process of each sandbox. By then no
program is alive that a mount point protects from itself.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

# In the background a shell's standard input would be empty, hence the detour by descriptor 3.
# `flock` waits a moment, for a dying process gives its lock and its pipe back in any order; it
# fails while another Onefold has sandboxes in the folder: the rest is that one's part. The record
# holds the time of the folder meanwhile, which is the person's.
_SCRIPT = """
exec 3<&0
(
    while read -r _; do :; done
    [ -s "$1" ] && exec flock -w 5 "$1" sh -c '
        while IFS= read -r name; do
            path=$2/$name
            touch -r "${path%/*}" "$1"
            rmdir -- "$path" && touch -r "$1" "${path%/*}"
        done < "$1"
        : > "$1"
    ' sh "$1" "$2"
) <&3 3<&- &
"""
_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


class MountCleaner:
    """Empties the list of names in the file *record*, and removes these folders from *project*.

    It acts when `sync_fd` is closed everywhere; `close` closes ours. The folder that the names are
    in keeps its time.
    """

    def __init__(self, project: Path, record: Path) -> None:
        read_end, self.sync_fd = os.pipe()
        try:
            # OSError: there is no shell; then the next run removes what was left.
            with suppress(OSError):
                subprocess.run(  # noqa: S603 - the arguments are ours
                    ["/bin/sh", "-c", _SCRIPT, "sh", os.fspath(record), os.fspath(project)],
                    env=_ENVIRONMENT,
                    cwd="/",
                    stdin=read_end,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    check=False,
                )
        finally:
            os.close(read_end)

    def close(self) -> None:
        os.close(self.sync_fd)
