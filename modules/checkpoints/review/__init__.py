"""The review of changes: by file and by hunk, whose they are, what was accepted.

- accepted     Accepted changes of a session, and the state at which a review begins because of
               them.
- attribution  Attribution of changes: those of a session's calls, told from what others did
               meanwhile.
- hunks        Hunks of a text's change, which a person accepts or reverts one by one; pure.
- review       Review of a session's changes, to accept or to revert: by file, and by hunk.
"""

EXPORTS = {
    "review": ["Review", "ReviewPart", "ReviewView"],
}
