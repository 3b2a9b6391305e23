"""Files of the project: opened, read, told apart and listed, below one folder only.

- editing/       Edits of text: what an edit means, and the text before and after it.
- git/           Git for us: run so that it starts no program, whatever a repository holds.
- containment    Opening what lies beneath one folder, whatever happens to a path while we look at
                 it.
- encodings      Guessing the encoding of a text that is neither UTF-8 nor marked: of East Asia, or
                 single bytes.
- file_kinds     What a file is that is no text, told by how it begins.
- fingerprints   Knowing a file again after somebody renamed, moved, edited or replaced it.
- ignore         Which files of a folder count: git's own answer in a repository, its rules followed
                 elsewhere.
- intent         What a call on files would do, as a card, without doing any of it.
- kernel         Calls of the kernel that Python does not offer, with what to do where they are
                 missing.
- listing        The tree of a folder as the model reads it and as people see it.
- own_code       Onefold's own code: all that this process and its next start load, Python included.
- paging         A part of a text as one answer to the model: numbered, bounded, with how to read
                 on.
- path_errors    What is said of a path that cannot be used as somebody wants.
- project        The one folder that Onefold works in: every file of it is reached through here.
- search_worker  The search itself, in a process of its own: an evil regular expression can be
                 killed there.
- single_byte    Guessing the single-byte encoding of a text: Cyrillic, Greek, Hebrew, Arabic, Thai
                 or Latin.
- writable       Changing what lies beneath one folder: whole or not at all, and never through a
                 link.
"""
