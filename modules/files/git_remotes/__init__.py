"""Remotes of git: where they are, speaking with them, and what follows them here.

- branches            Branches: their names, and moving one on to what a remote has.
- config_file         Config files of git, read and written by git itself, without what they
                      include.
- lfs_contents        Contents of Git LFS over the network: what commits name, sent and brought by
                      git-lfs itself.
- person_environment  The person's own environment, for git with their credentials.
- program_settings    Settings of a repository that a program may change: none that git runs, or
                      goes elsewhere for.
- remote_address      Addresses of remotes: what a repository says of them, and which of them git
                      may be sent to.
- remote_transport    Git over the network as the person: their credentials, and nothing of the
                      project.
- submodule_settings  Submodules that a repository's config names: which are checked out, and where
                      they come from.
- upstreams           Upstreams: the branch of a remote that a branch follows.
"""
