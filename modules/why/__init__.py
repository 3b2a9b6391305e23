"""Why a line is as it is: who wrote it, in which call, and the words that asked for it.

- agent_trace
           Agent Trace: where lines come from, as other programs read it.
- exports  Exports of where lines come from: a file in Agent Trace, and a note of git on a commit.
- feature  The command `/why`: who wrote a line, in which call, and the words that asked for it.
- ranges   Ranges of lines that have one origin, and what is to be said of their file.
- reasons  Reasons: what the sessions tell of the calls that wrote lines, and of what they rest on.
"""

EXPORTS = {
    "feature": ["Why"],
}
