"""The sessions of a project on disk.

- claims    Which process runs a session: one at a time, and one that is gone is no hindrance.
- recovery  Going on in a new file with what a broken one still holds.
- rows      Records as rows of the tables: their JSON, their words for a search, their titles.
- schema    The tables that sessions are kept in, and how older files come to have them.
- search    Finding what was said, with an index of three characters each where SQLite has one.
- store     The sessions of one project on disk: appended to, never rewritten, searchable in any
            script.
"""

from modules.sessions.store import Sessions

__all__ = ["Sessions"]
