"""Notes on files and on lines of them: what they are, where they are now, and what they protect.

- line_notes    Notes on lines: found again by their text and their neighbours, stale when changed.
- note_book     The notes on files as values: how they are kept, go with a rename and are told to
                the model.
- note_cards    Notes as cards.
- note_target   What a line of `/note` is about: a file, or lines of one, and the words for it.
- note_tracker  Following the files that notes are on, and the lines in them, whoever changed them.
- protection    Protection of what a note says not to touch: refused to tools, put back after runs.
- putting_back  Putting back what a note protects, which something else than a call of the model's
                changed.
"""

EXPORTS = {
    "line_notes": ["MAX_LINES", "LineNote", "anchored", "is_protecting", "located", "rewound"],
    "note_book": [
        "BrokenProtection",
        "LINE_NOTES",
        "Note",
        "NoteBook",
        "broken_protections",
        "dump_note_book",
        "line_notes_state",
        "notes_after_renames",
        "notes_change_for_model",
        "notes_for_model",
        "parse_note_book",
        "path_after_rename",
    ],
    "note_cards": ["line_notes_card", "notes_card"],
    "note_target": ["NoteTarget"],
    "note_tracker": ["NoteTracker"],
    "protection": ["Protection"],
    "putting_back": ["PuttingBack"],
}
