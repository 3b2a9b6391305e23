"""Puts together what the command line asks for: the model's client, the project, the screens.

This is the only place that builds things, and the only one that sees all screens.

- build          Builds what all screens stand on: the settings, the project with its data, and a
                 terminal.
- live           What a setting that was just saved changes in what runs: terminals and their
                 features.
- model          The client of the models that a start works with, and what is loaded last.
- parts          The parts of a session that more than one of its features needs.
- racers         The terminals of racers: what a race has in each copy of the project.
- served_model   The models of a server of pages: without a key at first, changed while it runs.
- start          Does what the command line says: chooses the screen, and runs what has none.
- stdio_servers  Servers on standard input and output: `acp` for editors, `mcp` for programs.
- terminal       The terminal: a dialogue, or the one task of `-p`.
- tool_tester    The tool tester, for `--tools` and for the page.
- web            The browser page, and the server that it comes from.
"""

EXPORTS = {"parts": ["READ_FILE", "SessionParts", "limits_of"], "start": ["run"]}
