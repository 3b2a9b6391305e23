"""The file system that a program sees, and what of it must be as before afterwards.

- approved_python  Approval of the Python installation outside the project that its programs may
                   see.
- devices          Device nodes of our own, for whoever owns the machine's.
- etc              The /etc that programs see: one prepared folder without a secret, made once.
- folder_removal   Removing a folder that a program has filled, however deep and locked it left it.
- folders          Listing folders as programs may have left them: locked, or deeper than any path
                   can name.
- held_folder      A folder held by a descriptor, so that a program cannot lead us elsewhere while
                   we work in it.
- interpreter      Python that runs the model's code, and the parts of it that have to be exposed.
- mount_points     Mount points that a sandbox needs in the project where there is nothing, and
                   their removal.
- mounts           Mount plan: what a program sees of the machine, decided for each call before any
                   mount.
- moved_folders    Finding a folder that a program has moved, and moving it back.
- replaced_files   Files that are shown in the place of others, kept by what is in them.
- unix_sockets     Unix sockets that the person's other programs keep in the project: a way out of a
                   sandbox.
"""

EXPORTS = {
    "approved_python": ["ApprovedPython"],
    "etc": ["exposed_paths", "mounted_folders", "user_name"],
    "folder_removal": ["remove_scratch"],
    "folders": ["is_within", "list_entries", "real_path"],
    "held_folder": ["Content", "HeldFolder"],
    "interpreter": ["Interpreter"],
    "mount_points": ["MountPoints", "is_empty_folder"],
    "mounts": ["MountPlan", "MountPlanner"],
    "moved_folders": ["FolderSearch", "move_back", "set_aside"],
}
