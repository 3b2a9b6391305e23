"""System calls by number, and what the filter does with each.

Numbers are those of x86_64 and aarch64: Linux, arch/x86/entry/syscalls/syscall_64.tbl and
include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

Numbers = tuple[int | None, int | None]

DENIED: dict[str, Numbers] = {
    # other processes: their memory, their descriptors
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # keyrings are in no namespace
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # much kernel for little use; io_uring also makes sockets past this filter
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "fanotify_init": (300, 262),
    "lookup_dcookie": (212, 18),
    "open_by_handle_at": (304, 265),
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    "unshare": (272, 97),
    # the machine itself
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "settimeofday": (164, 170),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "nfsservctl": (180, 42),
    "move_pages": (279, 239),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "_sysctl": (156, None),
    "ustat": (136, None),
    "sysfs": (139, None),
}
"""Refused with EPERM."""

NOT_IMPLEMENTED: dict[str, Numbers] = {
    # what they ask for stands behind a pointer, where a filter cannot look
    "clone3": (435, 435),
    "openat2": (437, 437),
    # what is mounted elsewhere
    "statmount": (457, 457),
    "listmount": (458, 458),
    # memory that no limit of a process counts
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
}
"""Answered with ENOSYS, so that the C library falls back to an older call."""

USER_WIDE_IPC: dict[str, Numbers] = {
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
"""Refused where a program shares memory and queues by number with the user's other programs."""

BY_ARGUMENT: dict[str, Numbers] = {
    "clone": (56, 220),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "creat": (85, None),
    "open": (2, None),
    "openat": (257, 56),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "prlimit64": (302, 261),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
}
"""Allowed or refused by their arguments."""

MODE_ARGUMENT = {
    "chmod": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "creat": 1,
    "mkdir": 1,
    "mkdirat": 2,
    "mknod": 1,
    "mknodat": 2,
}
"""Index of the argument that is a file mode: a setuid file made inside would be live outside."""

FLAGS_AND_MODE_ARGUMENTS = {"open": (1, 2), "openat": (2, 3)}
"""Indexes of the arguments flags and mode, the latter only if the flags create a file."""

PROCESS_ARGUMENT = {
    "prlimit64": 0,
    "setpriority": 1,
    "sched_setaffinity": 0,
    "sched_setscheduler": 0,
    "sched_setparam": 0,
    "sched_setattr": 0,
    "ioprio_set": 1,
}
"""Index of the argument that is a process, 0 being the caller itself."""

WHOLE_USER_VALUE = {"setpriority": 2, "ioprio_set": 3}
"""Value of the first argument for all processes of a user (PRIO_USER), 0 being the caller's."""
