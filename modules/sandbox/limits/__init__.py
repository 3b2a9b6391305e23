"""Limits of memory, processes, time and disk, kept by the kernel or by a watchdog.

- capacity      Capacity of this machine: no call is promised more of anything.
- cgroup        A control group of our own for one call: the kernel limits what is in it as a whole.
- cgroup_probe  Probing whether the kernel lets us have control groups: by making one and filling
                it.
- procfs        Facts on processes from /proc; one that ends while we look counts as nothing.
- rlimits       Limits that the kernel keeps for each process; `watchdog` keeps those of all
                together.
- watchdog      Watchdog over what a tree of processes uses together: memory, processes, disk.
"""

EXPORTS = {
    "cgroup": ["Cgroup"],
    "cgroup_probe": ["CgroupFactory", "find_cgroups"],
    "procfs": ["children_of", "read_proc", "threads_of"],
    "rlimits": ["inner_limits", "set_limits"],
    "watchdog": ["Watchdog"],
}
