"""Files of the project: opened, read, told apart and listed, below one folder only.

- editing/       Edits of text: what an edit means, and the text before and after it.
- git/           Git for us: run so that it starts no program, whatever a repository holds.
- git_remotes/   Remotes of git: where they are, speaking with them, and what follows them here.
- containment    Opening what lies beneath one folder, whatever happens to a path while we look at
                 it.
- encodings      Guessing the encoding of a text that is neither UTF-8 nor marked: of East Asia, or
                 single bytes.
- file_kinds     Kinds of files that are no text, recognised by how they begin.
- fingerprints   Fingerprints by which a file is recognised after it was renamed, edited or
                 replaced.
- ignore         Files of a folder that are not ignored: by git itself in a repository, else by its
                 rules.
- kernel         System calls that Python does not offer, each with a way where it is missing.
- listing        The tree of a folder as the model reads it and as people see it.
- own_code       Onefold's own code: all that this process and its next start load, Python included.
- paging         Paging of texts: one numbered, bounded part as an answer to the model, with how to
                 read on.
- path_errors    Sentences about paths that cannot be used as somebody wants.
- preview        Previews of calls on files, as cards, without doing any of it.
- project        The one folder that Onefold works in: every file of it is reached through here.
- search_worker  The search itself, in a process of its own: an evil regular expression can be
                 killed there.
- single_byte    Guessing the single-byte encoding of a text: Cyrillic, Greek, Hebrew, Arabic, Thai
                 or Latin.
- writable       Writing files beneath one folder: whole or not at all, and never through a link.
"""

EXPORTS = {
    "editing.edit_operations": [
        "EditOperation",
        "EditRequest",
        "EditResult",
        "Replacement",
        "apply_edit",
        "refuse_placeholders",
    ],
    "editing.long_text": ["MAX_BYTES"],
    "editing.read_state": ["ReadState"],
    "editing.text_file": ["NotEncodable", "NotRoundTrip", "NotText", "TextFile"],
    "encodings": ["preferred", "set_preferred"],
    "fingerprints": ["Fingerprint", "find_moved", "stat_or_none"],
    "git.commit_selection": ["ALL", "CommitSelection", "refuse_filters", "select"],
    "git.common_dir": ["read_regular_file"],
    "git.git_guard": ["find_git_folders", "gitdir_target", "repository_paths"],
    "git.git_runs": ["GitRuns", "git_for"],
    "git.index_file": ["BadIndex", "read_index"],
    "git.isolated_git": [
        "IsolatedGit",
        "has_git",
        "installed_git",
        "isolated_git",
        "isolated_repository",
    ],
    "git.lfs": ["OBJECTS", "take_objects"],
    "git.linked_tree": ["LinkedTree", "linked_tree"],
    "git.new_repository": ["NEW_CONFIG", "follow", "make_repository"],
    "git.object_transfer": ["bring_objects"],
    "git.person_identity": ["set_identity"],
    "git.repository": [
        "REPOSITORY_ELSEWHERE",
        "config_environment",
        "find_work_tree",
        "outer_repository",
        "output_fields",
    ],
    "git.secret_scan": [
        "SecretNamesIn",
        "Secrets",
        "format_secrets",
        "published_keys",
        "secret_names_of",
        "secrets_in_commits",
        "unknown_keys",
    ],
    "git.staging": ["Staging", "identity_variables", "refuse_links", "staged", "staging"],
    "git.state_changes": [
        "GitState",
        "GitStateChange",
        "StateLocked",
        "StateMoved",
        "apply_changes",
        "changes_between",
        "read_state_file",
        "remove_stale_locks",
    ],
    "git.state_names": [
        "is_object_id",
        "is_of_remote",
        "is_ref_name",
        "is_state_file",
        "may_hold_state",
        "of_shared_submodules",
        "own_name",
        "split_submodule",
        "symbolic_target",
        "tree_of_submodule",
    ],
    "git.temporary_folder": ["exclude_project"],
    "git_remotes.branches": [
        "checked_branch",
        "commit_of",
        "current_branch",
        "fast_forward",
        "tree_changes",
    ],
    "git_remotes.config_file": [
        "ConfigChanges",
        "ConfigValues",
        "config_values",
        "write_config",
    ],
    "git_remotes.lfs_contents": [
        "LfsTransfer",
        "PointerFile",
        "check_out",
        "is_here",
        "pointer_files",
        "pointers_in_commits",
        "secrets_in_contents",
        "with_filter",
    ],
    "git_remotes.person_environment": ["PersonEnvironment"],
    "git_remotes.program_settings": ["changed_settings"],
    "git_remotes.remote_address": ["RemoteAddress", "network_address", "remote_address"],
    "git_remotes.remote_transport": ["Ref", "Transport"],
    "git_remotes.submodule_settings": ["is_plain_address"],
    "git_remotes.upstreams": [
        "has_upstream",
        "upstream_changes",
        "upstream_of",
    ],
    "ignore": ["GENERATED_FOLDERS", "NearFiles"],
    "kernel": ["Undecided", "exchange", "openat2", "reflink", "rename_to_new"],
    "listing": ["FolderListing"],
    "own_code": ["OwnCode", "break_hard_links", "linked_libraries"],
    "paging": ["read_excerpt", "read_part"],
    "path_errors": ["outside"],
    "preview": ["FilePreviews"],
    "project": [
        "BinaryFile",
        "ContentChanged",
        "DirectoryItem",
        "MissingPath",
        "Project",
        "TooLarge",
    ],
    "search_worker": ["SearchJob", "SearchResult"],
    "writable": ["TEMPORARY_FILE"],
}
