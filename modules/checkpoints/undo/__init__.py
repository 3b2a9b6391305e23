"""Undo and redo: what each call did, and taking it back in any order.

- background_ids  Ids of the records of what was done in the background: the names of who did it,
                  with these.
- held_files      Files that no checkpoint holds, kept while a call runs, so that they can be what
                  they were.
- journal         An undo, a redo or a rewind as a whole: what is done of it, and what is still to
                  be done.
- killed_calls    The end of calls that a kill cut short: with what they did, not with what
                  others did since.
- model_messages  Messages to the model, of one line, about what the person took back.
- recorder        Recorder of what each call does to the folder, by snapshots before and after it.
- selector        Selector of what `/undo` and `/redo` apply to: the last turn or call, or one by
                  its number.
- undo            Taking back what calls did, in any order, and bringing it again.
- undo_cards      Undos and differences as cards.
- undo_commands   Undo for people: the commands that take back what calls did, and the review at the
                  page.
- undo_results    Results of going back: what an undo did to the folder, and an operation that is
                  done with it.
- undo_state      Undo of what calls changed beside the files: notes, focus, todos and memory.
"""

EXPORTS = {
    "background_ids": ["BETWEEN_TURNS", "IN_BACKGROUND"],
    "journal": ["Kind", "OperationPart", "Span", "UndoOperation"],
    "undo_results": ["FinishedOperation", "UndoResult"],
}
