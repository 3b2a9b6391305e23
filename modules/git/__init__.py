"""Git for the model and for the person: commits, with the hooks of the repository, and remotes.

- person/            Git for the person: what the page's Git pane and `/git` show and do.
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
    "commit": ["GitCommit", "PublishesSecrets"],
    "commit_hooks": ["CommitHooks"],
    "person.agent_commits": ["AgentCommits"],
    "person.branches": ["list_branches"],
    "person.diffs": ["FileDiff", "commit_diffs"],
    "person.feature": ["GitForPerson"],
    "person.history": ["checked_commit", "log_page", "message_of"],
    "person.status": ["read_state"],
    "person.suggestion": ["Suggestion", "cost_text"],
    "remote": ["GitRemote"],
}
