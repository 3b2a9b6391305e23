"""One run: the process, its output, what it changed, and what it leaves behind.

- execution       One confined program, from its start to the death of its last process.
- file_changes    File changes of a run, found by scanning the project before and after.
- mount_cleanup   Cleanup of our mount points in the project when we were killed and cannot do it
                  ourselves.
- mount_check     Check that the mounts of a sandbox are of what they should be, before its program
                  runs.
- orphan_cleanup  Cleanup of processes of sandboxes whose Onefold was killed.
- output          The output of a program: its two ends at hand, what is between them in a file
                  without a name.
- pidfd           Handles on processes, which Linux has: a number may become another's, a handle may
                  not.
- prewarmed       Prewarmed Python that is ready and waits for the code of one call, so that this is
                  fast.
- process         A confined process and our handles on it: its output, its gate, and the means to
                  kill it.
- python_runner   Running the model's Python as a script that ends like a notebook cell.
- ring_output     The output of a program that runs on: the newest part of it, in a file without a
                  name.
"""

EXPORTS = {
    "execution": ["Background", "Execution", "NotStarted", "Unkillable"],
    "file_changes": ["FolderState", "is_bare_repository"],
    "mount_cleanup": ["MountCleaner"],
    "orphan_cleanup": ["wait_for_launchers"],
    "prewarmed": ["PoolKey", "WarmInterpreter"],
    "process": ["LaunchSpec"],
    "python_runner": ["runner"],
}
