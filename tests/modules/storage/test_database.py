"""One SQLite file for several in a process, and for several processes: nobody loses anything."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from modules.storage.database import Database

ROOT = Path(__file__).parents[3]
SCHEMA = "CREATE TABLE word(word TEXT)"
OTHER = f"""
import sys
from contextlib import closing
from pathlib import Path
from modules.storage.database import Database
with closing(Database(Path(sys.argv[1]), {SCHEMA!r})) as database:
    with database.writing() as connection:
        connection.execute("INSERT INTO word VALUES (?)", (sys.argv[2],))
    with database.reading() as connection:
        print(*[word for (word,) in connection.execute("SELECT word FROM word")])
"""


def write(database: Database, word: str) -> None:
    with database.writing() as connection:
        connection.execute("INSERT INTO word VALUES (?)", (word,))


def words(database: Database) -> list[str]:
    with database.reading() as connection:
        return [word for (word,) in connection.execute("SELECT word FROM word")]


def other_process(path: Path, word: str) -> list[str]:
    """Let another process write *word* and go; return what it read then."""
    command = [sys.executable, "-c", OTHER, str(path), word]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_what_is_written_after_another_process_has_gone_is_kept(tmp_path: Path) -> None:
    """A second one here must not take the locks of the first: the log would go with the other."""
    path = tmp_path / "words.db"
    with closing(Database(path, SCHEMA)) as one, closing(Database(path, SCHEMA)) as two:
        write(one, "first")
        assert words(two) == ["first"]
        assert other_process(path, "theirs") == ["first", "theirs"]
        write(one, "second")
        assert other_process(path, "theirs-too") == ["first", "theirs", "second", "theirs-too"]
        assert words(two) == ["first", "theirs", "second", "theirs-too"]


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Database(tmp_path / "words.db", SCHEMA)) as database:
            write(database, "first")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "words.db").stat().st_mode) == 0o600
