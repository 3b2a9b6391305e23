"""Git for us: run so that it starts no program, whatever a repository holds.

- commit_selection    Selecting what a commit takes: all that git tracks or would, but for what
                      nobody publishes.
- common_dir          A folder that git takes for the common folder of a repository, in the place of
                      the real one.
- git_guard           Finding the repository of a folder: git runs commands that are named there.
- git_runs            Runs of git for the model: what fails is told in a sentence that it can act
                      on.
- git_settings        The settings that git keeps for us: plain values of the repository's and of
                      the person's.
- inner_repositories  Repositories that an index names as submodules: git reads a little of them,
                      and may wait there.
- isolated_git        Running git so that it starts no program, whatever a repository holds.
- repository          Asking git about a folder.
- staging             A commit in the making: an index of its own, so that what git has is changed
                      at the end only.
"""
