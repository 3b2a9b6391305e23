"""Git for the model: commits, with the hooks of the repository, and remotes.

- commit             Commits for the model: by git itself, outside the sandbox, so that nothing it
                     would run runs.
- commit_hooks       Hooks of a repository at a commit for the model: run in the sandbox, when the
                     person wants them.
- remote             Git with others, for the model: as the person, with their credentials and only
                     with a yes.
- remote_lfs         Contents of Git LFS beside the commits that name them: which go, which come,
                     and what is said.
- remote_operations  Operations with remotes of git: fetch, pull, push and clone, loaded with the
                     first of them.
"""

EXPORTS = {
    "commit": ["GitCommit"],
    "commit_hooks": ["CommitHooks"],
    "remote": ["GitRemote"],
}
