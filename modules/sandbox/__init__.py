"""Programs of the model, run so that they cannot do more than they should.

- backends/     The backends of confinement, and finding the best that this machine has.
- filesystem/   The file system that a program sees, and what of it must be as before afterwards.
- git/          Git for programs: its state is theirs to change, and the files that git obeys never
                are.
- home/         The home of programs: a folder for each project, kept between calls and bounded.
- limits/       Limits of memory, processes, time and disk, kept by the kernel or by a watchdog.
- network/      The one way to the network: a proxy, and what is fetched for a program.
- run/          One run: the process, its output, what it changed, and what it leaves behind.
- toolchains/   The person's own toolchains: found by their PATH, and shown to programs without
                their secrets.
- late_sandbox  A sandbox that is loaded when the first program runs: who runs none pays nothing
                for it.
- sandbox       Programs of the model, run so that they cannot do more than they should.
- types         Types of requests to a sandbox, and of its answers.
"""

EXPORTS = {
    "backends.machine_evidence": ["machine_evidence"],
    "filesystem.folder_removal": ["remove_scratch"],
    "git.inner_repositories": ["inner_repositories"],
    "git.repository_search": ["RepositorySearch"],
    "git.shared_protection": ["git_protection_of"],
    "home.clean_command": ["Clean"],
    "home.program_home": ["ProgramHome"],
    "late_sandbox": ["LateSandbox", "RememberedSandbox"],
    "limits.capacity": ["exceeding", "fit_to_machine"],
    "network.listening_ports": ["listening_ports", "sockets_of"],
    "network.offline": ["installs_in_system", "is_refused_offline", "lacks_network"],
    "network.packages": ["package_network"],
    "network.shared_network": ["Namespaces"],
    "run.execution": ["Background", "Execution"],
    "run.file_changes": ["FileChanges", "FolderState", "compare_scans", "scan_files"],
    "run.ring_output": ["RingOutput"],
    "sandbox": ["Sandbox"],
    "toolchains.shown": ["Toolchains"],
    "types": [
        "Limits",
        "MAX_SECONDS",
        "MEBIBYTE",
        "NO_TIME_LIMIT",
        "Network",
        "Program",
        "Report",
        "Result",
        "TERMINAL_COLUMNS",
        "TERMINAL_LINES",
        "TierName",
    ],
}
