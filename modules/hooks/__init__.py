"""Hooks: programs of the person's and the project's around calls, in the format of other agents.

- feature  Hooks by moment: whose they are, whether they may run, and what comes of them.
- files    Files of hooks: what one says, in words for people where it cannot be used.
- run      One hook, run: its input, its answer, and what is made of one that breaks.
"""

EXPORTS = {
    "feature": ["Hooks"],
}
