"""Git for us: run so that it starts no program, whatever a repository holds.

- commit_selection  Selecting the files of a commit: all that git tracks or would, but for those to
                    keep private.
- common_dir        Private GIT_COMMON_DIR: a folder that git takes for a repository's own, in its
                    place.
- git_config        Config of git for our runs: plain values of the repository's and of the
                    person's.
- git_guard         Finding the repository of a folder: git runs commands that are named there.
- git_runs          Runs of git for the model: a failure is a sentence that it can act on.
- index_file        Git's index, read by us: which files it names, and nothing that a stranger could
                    put beside.
- isolated_git      Running git so that it starts no program, whatever a repository holds.
- lfs               Git LFS without its program: the pointers that git holds, and the contents that
                    they name.
- linked_tree       Linked work trees (`git worktree add`): what of the repository they share is
                    theirs.
- new_repository    New repositories: empty, with settings of ours and no hooks.
- object_transfer Bringing objects of one repository to another that it was once a copy of.
- person_identity   Who the person is to git by their environment, which goes before what its config
                    says.
- repository        Queries to git about a folder.
- secret_scan       Scanning of what is to be published for secrets.
- split_index       Git's index where it is split in two (`core.splitIndex`), a shared file with
                    most of it and one with what is different.
- staging           Staging of a commit in an index of its own, so that git's own data changes at
                    the end only.
- state_changes     Changes of a repository's state, found between two of its states and made under
                    git's own locks.
- state_names       Names of the files in which git keeps the state of a repository, and what is in
                    them.
- submodule_pipes   Submodules that an index names: git reads a little of them, and may wait at a
                    pipe there.
- temporary_folder  The folder for what git is given in the place of a repository's own: never in a
                    project.
"""

EXPORTS = {
    "common_dir": ["read_regular_file"],
    "git_config": ["transport_config"],
    "git_runs": ["GitRuns", "refusal"],
    "isolated_git": ["IsolatedGit"],
    "lfs": [
        "FILTER",
        "MAX_POINTER",
        "OBJECTS",
        "Pointer",
        "copy_objects",
        "is_pointer_file",
        "object_path",
        "pointer_in",
        "read_object",
    ],
    "repository": ["find_work_tree", "git_output"],
    "secret_scan": [
        "MAX_FILE",
        "MAX_TOTAL",
        "SecretNamesIn",
        "Secrets",
        "read_objects",
        "secret_names_of",
        "unknown_keys",
    ],
    "staging": ["refuse_links"],
    "state_names": ["is_ref_name"],
}
