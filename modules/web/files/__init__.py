"""The files of the project as the page shows, reads and writes them.

- content       Reading and writing files for a person at the page, who may race with the agent and
                others.
- file_index    What is known of all files at once: which of them no rule ignores, and git's
                letters.
- file_names    What the name of a file tells: how it may be shown, and how to make a foreign one
                harmless.
- file_parts    A text file that is too large to be edited, by part: about a million bytes, whole
                lines each.
- git_status    What git thinks of the files: changed, new or in conflict, asked without running its
                code.
- stat_cache    Telling whether a file or folder is still as it was when somebody was told of it.
- tree_listing  The files as the page's tree shows them: a window of one folder at a time.
- watcher       Notices what others do to the folders, files and notes that somebody is looking at.
"""
