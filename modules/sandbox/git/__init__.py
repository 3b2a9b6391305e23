"""Files that git obeys: as they were, whatever a program did.

- baseline        Baseline of the files that git obeys in a repository, taken before a run, to
                  restore after it.
- harmless_lines  Harmless lines of files in which git would also run what a line says.
- protection      Protection of git's dangerous files by restoring them, where a tier cannot keep
                  them read-only.
- run_record      Record of the git baselines, on disk for as long as a run takes, so that a kill
                  loses nothing.
"""

EXPORTS = {
    "protection": ["GitProtection", "git_protection_of", "restoration_notes"],
}
