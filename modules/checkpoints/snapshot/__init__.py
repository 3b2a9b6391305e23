"""Snapshots: looking at the folder, and what differs between two looks.

- diff              Lookup in snapshots, and the difference between two of them.
- dirfd             Work on files beneath one open folder, following no symbolic link on the way.
- entries           Entries of a snapshot: one `Entry` for every file, link and folder.
- linked_repository  Scan of the repository that a linked work tree shares: the state in it that is
                    the tree's own.
- metadata          Metadata of files beside content, mode and times: owner, extended attributes,
                    access lists.
- reader            Reading the files that a scan found new or changed, and storing their contents.
- scanner           Scanning the project folder: files that did not change are not read again.
- temporary_access  Temporary access to our own files whose mode forbids reading; they get their
                    mode back.
"""

EXPORTS = {
    "diff": [
        "Difference",
        "PathLookup",
        "Rename",
        "TreeDiff",
        "TreeDigests",
        "ancestors",
        "ancestors_of",
        "apply_rename",
        "find_renames",
        "git_contents",
        "lookup",
        "path_after",
        "path_before",
        "renamed_path",
        "walk",
    ],
    "dirfd": [
        "Walker",
        "open_file",
        "opened_folder",
        "opened_parent",
        "proc_path",
        "set_mode",
        "set_mtime",
        "stat_or_none",
    ],
    "entries": [
        "EXPECTED_REASONS",
        "Entries",
        "Entry",
        "GIT",
        "LINKED_GIT",
        "REASONS",
        "decode",
        "digest",
        "is_digest",
        "encode",
        "is_folder",
        "is_relinked",
        "join",
        "parent_of",
        "same_content",
        "same_entry",
        "same_except_mtime",
    ],
    "linked_repository": ["inner_repository", "scan_linked"],
    "metadata": ["HAS_XATTRS", "set_owner", "set_xattrs"],
    "scanner": ["Scanner"],
}
