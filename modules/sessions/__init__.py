"""The sessions of a project on disk.

- claims    Claims of sessions: one process runs a session at a time; a dead one's claim is void.
- recovery  Recovery of sessions from a damaged file into a new one.
- rows      Records as rows of the tables: their JSON, the text for search, the titles of sessions.
- schema    The tables that sessions are kept in, and how older files come to have them.
- search    Search of messages, with a trigram index where SQLite has one.
- spent_rows
            What the model calls of all sessions took, read off their records.
- store     The sessions of one project on disk: appended to, never rewritten, searchable in any
            script.
"""

EXPORTS = {
    "rows": ["title_of"],
    "store": ["Sessions"],
}
