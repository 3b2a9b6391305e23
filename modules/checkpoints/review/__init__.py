"""The review of changes: by file and by hunk, whose they are, what was accepted.

- accepted     What the person accepted of the changes of a session, and where a review begins
               because of it.
- attribution  Whose changes they are: what the calls of a session did, told from what others did
               meanwhile.
- hunks        The parts of a text's change that a person takes or takes back one by one; pure.
- review       What changed in a session, for a person to accept or to take back: by file, and by
               hunk.
"""
