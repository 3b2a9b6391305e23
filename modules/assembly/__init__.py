"""Puts together what the command line asks for: the model's client, the project, the screens.

This is the only place that builds things, and the only one that sees all screens.

- build          Builds what all screens stand on: the settings, the project with its data, and a
                 terminal.
- model          The client of the models that a start works with, and what is loaded last.
- start          Does what the command line says: chooses the screen, and runs what has none.
- stdio_servers  Servers on standard input and output: `acp` for editors, `mcp` for programs.
- terminal       The terminal: a dialogue, or the one task of `-p`.
- tool_tester    The tool tester, for `--tools` and for the page.
- web            The browser page, and the server that it comes from.
"""

EXPORTS = {"start": ["run"]}
