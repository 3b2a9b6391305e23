"""Evaluation of agents: `python3 -m tests.eval --help`."""

from __future__ import annotations

import sys

from tests.__main__ import prepare_environment

if __name__ == "__main__":
    code = prepare_environment()
    if code == 0:
        from tests.eval.command import main

        code = main()
    sys.exit(code)
