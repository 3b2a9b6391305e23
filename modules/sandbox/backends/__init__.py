"""The backends of confinement, and finding the best that this machine has.

- advice            Advice on what to install or switch for a better tier, from a failure of
                    bubblewrap.
- bubblewrap        Confinement by bubblewrap: the arguments, in an order that matters (later mounts
                    cover earlier).
- known_tier        The best tier of this machine as it was found last, on disk until something
                    changes.
- launcher          Launcher of a program without namespaces, which in the end kills all that it has
                    started.
- machine_evidence  Evidence that this machine is a container or a virtual one, which may be the
                    agent's own.
- seatbelt          Confinement by macOS: a profile for sandbox-exec. Written from documentation,
                    never run there.
- seccomp           Seccomp filter: system calls that no confined program has any business with.
- selftest          Finding the best tier by running each: a program tries to get out and must not
                    succeed.
- system_calls      System calls by number, and what the filter does with each.
- tier_texts        The tiers of confinement in words: their names, and what each does not protect.
- tiers             The tiers of confinement: how a program is started in each, and what each does
                    not protect.
"""

EXPORTS = {
    "bubblewrap": ["CLEAN_ENVIRONMENT", "Descriptors", "system_folders"],
    "known_tier": ["BWRAP_PATHS", "read_known_tier"],
    "selftest": ["SelfTest", "SelfTestResult"],
    "tier_texts": ["report_of"],
    "tiers": ["BubblewrapTier", "Tier", "outside_spec"],
}
