"""Git for programs: its state is theirs to change, and the files that git obeys never are.

- added_submodules   Submodules that a run added: their repositories, made apart of what it left, by
                     us.
- alternates         Alternates: folders of other repositories from which a repository has a part
                     of its objects.
- baseline           Baseline of the files that git obeys in a repository, taken before a run, to
                     restore after it.
- clone_objects      Objects of a clone that a run has made of the project's repository: brought to
                     it afterwards.
- git_command        Command `git` of programs where nothing can be mounted: it leads to the
                     stand-in by name.
- harmless_lines     Harmless lines of files in which git would also run what a line says.
- held_objects       Objects of git, held by another name for as long as a run takes, so that none
                     is ever lost.
- held_state         State of the project's repository, held while a run takes, to make one that is
                     gone anew.
- inner_repositories  Repositories in a project beside its own: all that git would take for one, and
                     obey.
- new_repository     New repository of a project that had none: made apart of what a run of
                     `git init` left, by us.
- object_quarantine  Quarantine of the objects that a run has made, from which only whole ones are
                     taken over.
- object_files       Files of the objects of a repository: which stay as they are, and which git
                     makes of these.
- pack_index         Index of a pack of git: which objects are in that (Git, `gitformat-pack`).
- person_rules       What the git settings of the person say of files, for programs: line ends,
                     ignored files, attributes. Those of a repository go before it.
- plain_config       Whether a repository is of the usual kind, by its config; a sparse checkout is
                     one too.
- protection         Protection of git's dangerous files by restoring them, where a tier cannot keep
                     them read-only.
- repository_search  Search for repositories in a project of any size, which looks only where
                     something changed.
- restored           Restored files of git, and what is said of them after a run.
- run_record         Record of the git baselines, on disk for as long as a run takes, so that a kill
                     loses nothing.
- shared_protection  The protection of git's files that all sandboxes around a project share, made
                     at its first use.
- stand_in           Stand-in of a repository that programs may write to, and taking over what they
                     did there.
- stand_in_files     Files of the stand-in: stamps by which a change is seen, copies, and the folder
                     they are in.
- state_check        Check of what a run has done to the state of a repository, before any of it is
                     taken over.
- submodules         Submodules whose repositories lie in that of the project: which of them
                     programs may change.
- takeover_journal   Journal of a take-over of git's state: one that was cut short by a kill is
                     brought to its end.
- work_trees         Work trees of a repository: of which of them a run may change the state.
"""

EXPORTS = {
    "git_command": ["programs_of"],
    "person_rules": ["settings_that_name"],
    "protection": ["GitProtection"],
    "restored": ["restoration_notes"],
    "shared_protection": ["git_protection_of", "is_git_protected"],
    "stand_in": ["GitStandIn", "LFS_IN_SANDBOX", "MODULES_IN_SANDBOX", "OBJECTS_IN_SANDBOX"],
}
