"""Entry of the installed program: the command `onefold`, and `python3 -m onefold`.

Like main.py it must run under a Python as old as 3.6, to say which one is needed.
"""

import os
import sys


def main() -> int:
    """Return the exit code of what the command line says."""
    # The folder of the command, or the current one after -m: nothing in it is ours to import.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - costs less
    sys.path.insert(0, folder)
    import main as program

    return program.main()


if __name__ == "__main__":
    sys.exit(main())
