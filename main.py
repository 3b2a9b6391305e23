"""Onefold: an agent that works inside one project folder. `python3 main.py --help` says how.

It must run under a Python as old as 3.6, to say which one is needed, and import nothing before the
packages are there; what then happens stands in modules/assembly/.
"""

import gc
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module `typing` itself is not imported yet: Ctrl-C comes first
    from modules.translator import Translator

PACKAGES = ("click", "rich", "prompt_toolkit", "openai", "tavily", "pathspec", "flask_socketio")


def main() -> int:
    """Return the exit code of what the command line says; Ctrl-C ends it quietly at any moment."""
    # Until a screen takes over, nothing is under way that must be ended in order. A
    # `KeyboardInterrupt` may strike inside the import system, which then drops it and keeps its
    # lock: the thread that imports the SDK would wait for ever, and the task for it.
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(130))
    if sys.version_info < (3, 11):  # noqa: UP036 - this is where an older one is told so
        sys.stderr.write("Onefold needs Python 3.11 or newer.\n")
        return 2
    # Nearly all of the 110,000 objects that a start makes stay: looking for garbage among them is
    # put off until they are made (`end_start`).
    gc.set_threshold(400_000)
    # Whatever the person's own habit is: in our folder, bytecode saves 0.1 s of every start.
    sys.dont_write_bytecode = False
    try:
        return start(sys.argv[1:])
    except KeyboardInterrupt:
        return 130


def start(argv: "list[str]") -> int:
    """Do what *argv* says, and say what stands in its way; return the exit code."""
    from config import language
    from modules.translator import Translator
    from utils.i18n import UserError, phrase
    from utils.system.streams import OutputLost, print_error, repair_streams

    repair_streams()
    translator = Translator.of(language())
    try:
        code = run_with_packages(argv, translator)
        sys.stdout.flush()
        return code
    except UserError as error:
        print_error(translator.render(error.message))
        return 2
    except OutputLost as output_error:
        if output_error.is_broken_pipe:
            return 0
        print_error(
            translator.render(phrase("Cannot write the output: {why}.", why=output_error.reason))
        )
        return 1


def run_with_packages(argv: "list[str]", translator: "Translator") -> int:
    """Make sure of the packages, then run; return the exit code. Raises `UserError`."""
    from config import full_version

    if argv == ["--version"]:
        sys.stdout.write(f"Onefold {full_version()}\n")
        return 0
    if argv == ["--help"]:
        from modules.cli.option_specs import help_text

        sys.stdout.write(f"{help_text(translator)}\n")
        return 0
    # mypy reads none of what follows for Windows: it need not be what that has.
    if sys.platform == "win32":
        from utils.i18n import UserError, phrase

        # What stays in one folder is opened in folders that are open, which Python cannot do there.
        raise UserError(
            phrase("On Windows use WSL: install it (wsl --install) and start Onefold there.")
        )
    else:  # noqa: RET506 - see above
        from config import IS_INSTALLED, ROOT
        from utils.bootstrap import ensure_environment
        from utils.system.streams import print_error

        if not IS_INSTALLED:  # who installed it brought the packages along
            ensure_environment(
                str(ROOT),
                packages=PACKAGES,
                requirements="requirements.txt",
                folder=".venv",
                print_message=lambda what: print_error(translator.render(what)),
            )
        from modules.assembly.start import run

        return run(argv, translator)


if __name__ == "__main__":
    sys.exit(main())
