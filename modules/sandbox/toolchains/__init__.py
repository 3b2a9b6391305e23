"""The person's own toolchains: found by their PATH, and shown to programs without their secrets.

- boundaries   Boundaries of what may be shown of the person's folders.
- credentials  Credentials in a toolchain's folder, which stay hidden where the folder is shown.
- finder       Finder of the toolchains, asked before each call and looking again after a change.
- links        Symbolic links on the way to a path.
- managers     Managers of toolchains: the folders that each keeps its own in, and its variables.
- root_search  Search for the toolchains that a PATH and its variables lead to.
- shown        Toolchains as they are shown to programs: folders, links, PATH and variables.
"""

EXPORTS = {
    "boundaries": ["Boundaries", "is_in_shared_memory"],
    "finder": ["ToolchainFinder"],
    "shown": ["Toolchains"],
}
