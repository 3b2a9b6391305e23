"""Terminals of the client, where it has some, which show the programs that a session runs.

- live_text      Output of a program made harmless while it comes, for a terminal that is not ours.
- run_terminal   One run in a terminal of the client's, which shows it through a socket and runs
                 nothing.
- run_terminals  The terminals of a client, where it has some, for the programs that a session runs.
- run_viewer     Viewer of a run, for the terminal of a client: it shows what comes, and runs
                 nothing itself.
"""

EXPORTS = {"run_terminals": ["RunTerminals"]}
