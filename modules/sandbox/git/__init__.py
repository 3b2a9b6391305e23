"""Git for programs: its state is theirs to change, and the files that git obeys never are.

- baseline           Baseline of the files that git obeys in a repository, taken before a run, to
                     restore after it.
- harmless_lines     Harmless lines of files in which git would also run what a line says.
- object_quarantine  Quarantine of the objects that a run has made, from which only whole ones are
                     taken over.
- protection         Protection of git's dangerous files by restoring them, where a tier cannot keep
                     them read-only.
- run_record         Record of the git baselines, on disk for as long as a run takes, so that a kill
                     loses nothing.
- stand_in           Stand-in of a project's `.git` that programs may write to, and taking over what
                     they did there.
- state_check        Check of what a run has done to the state of a repository, before any of it is
                     taken over.
"""

EXPORTS = {
    "protection": ["GitProtection", "git_protection_of", "restoration_notes"],
    "stand_in": ["GitStandIn", "OBJECTS_IN_SANDBOX"],
}
