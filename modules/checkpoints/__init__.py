"""Undo for everything that happens to the folder, with or without git.

- clone/       A copy of the project with its undo, for a fork in a folder of its own.
- line_origins/ Where the lines of a file come from: folded, when asked, from the states around
               every call.
- restore/     Bringing the folder from one state to another, whole or not at all.
- review/      The review of changes: by file and by hunk, whose they are, what was accepted.
- snapshot/    Snapshots: looking at the folder, and what differs between two looks.
- store/       The store: contents by their digest, the index of snapshots, locks and repair.
- undo/        Undo and redo: what each call did, and taking it back in any order.
- checkpoints  Snapshots of the project folder, what differs between them, and going back.
- file_versions
               Versions of a file: its states that the checkpoints hold, wherever it was.
- head_log     The log of git's HEAD in snapshots: what a call added to it.
- late_checkpoints
               Checkpoints that are loaded when they are first wanted: a start and an answer need
               none.
- past_contents
               Past contents of files, as far as checkpoints hold them.
"""

EXPORTS = {
    "checkpoints": ["Checkpoints"],
    "file_versions": ["FileVersion", "file_versions", "version_content"],
    "head_log": ["added_to_log"],
    "late_checkpoints": ["LateCheckpoints"],
    "line_origins.origins": ["FileOrigins", "Origin"],
    "line_origins.person_writings": ["record_file", "recording_person"],
    "line_origins.tracing": ["Tracing"],
    "past_contents": ["hold_now", "past_contents"],
    "restore.operations": ["Skipped"],
    "review.accepted": ["mode_of"],
    "review.review": ["Review", "ReviewPart", "ReviewView", "ReviewedFile"],
    "snapshot.diff": ["Difference"],
    "snapshot.entries": ["Entry", "GIT"],
    "undo.background_ids": ["BETWEEN_TURNS", "IN_BACKGROUND"],
    "undo.recorder": ["CallRecorder"],
    "undo.undo_cards": ["diff_card", "taken_card"],
    "undo.undo_commands": ["UndoCommands"],
    "undo.undo_state": ["StateUndo"],
}
