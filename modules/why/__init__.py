"""Why a line is as it is: who wrote it, in which call, and the words that asked for it.

- feature  The command `/why`, and the record of what the person writes.
"""

EXPORTS = {
    "feature": ["Why"],
}
