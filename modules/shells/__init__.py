"""Shells: the person's own, with a terminal in the page, in the sandbox or outside of it.

- launch      Commands that start a shell: one in the sandbox, and the person's own outside.
- scrollback  The newest output of a shell, with the modes of the terminal that older output set.
- shell       One shell: its process, what pages have seen of its output, and its end.
- shells      The shells of a server: opened, found by their numbers, and all ended with it.
"""

EXPORTS = {
    "launch": ["Size"],
    "shells": ["Shells"],
}
