"""Git for the person: what the page's Git pane and `/git` show and do.

- agent_commits  Commits of the agent: those that stand in the log of HEAD since a call, and did not
                 before it.
- branches       Branches for the person: listed, made, and switched to where no work would be
                 lost.
- cards          Cards of `/git`: the state of the repository, and its log with what was the
                 agent's.
- diffs          Diffs for the person: by file and by hunk, each bounded, with why where there is
                 none to show.
- feature        Git for the person: `/git` in the terminal, and all that the page's Git pane does.
- head           The branch that the project is on, read from `.git/HEAD` without any program.
- history        The log for the person: page by page, and one commit in full.
- index_writes   What the person does to the index and to their files: stage, unstage, discard.
- repository     The repository of the project, opened for the person: git as it is run for us, and
                 why not.
- status         The state of the repository: its branch, what is staged and what is not, without
                 any network.
- suggestion     A message for a commit, offered by the model: one bounded call with what is staged.
"""
