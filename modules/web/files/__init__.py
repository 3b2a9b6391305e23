"""The files of the project as the page shows, reads and writes them.

- content       Reading and writing files for a person at the page, who may race with the agent and
                others.
- file_index    Index of all files at once: which of them no rule ignores, and git's status of each.
- file_names    File names: how a browser may show a file, and how to sanitize a foreign name.
- file_parts    Parts of a text file that is too large to be edited: about a million bytes, in whole
                lines.
- git_status    Git's status of the files: changed, new or in conflict, queried without running repo
                code.
- running_pages
                HTML files of the project, run: each on an origin of its own, beside the files of
                its folder.
- stat_cache    Cache of stats: is a file or folder still as it was when it was last sent to
                somebody?
- tree_listing  Listing of files for the page's tree: a window of one folder at a time.
- watcher       Notices what others do to the folders, files and notes that somebody is looking at.
"""

EXPORTS = {
    "content": ["FileContents", "MAX_FILE_BYTES", "MAX_PATH_LENGTH", "MAX_TEXT_BYTES"],
    "file_names": ["ACTIVE_TYPES", "media_type"],
    "running_pages": ["RunningPages"],
    "stat_cache": ["Stamp", "StatCache", "stamp_of"],
    "tree_listing": ["DEFAULT_COUNT", "TreeListing"],
    "watcher": ["FolderWatcher", "MAX_WATCHED"],
}
