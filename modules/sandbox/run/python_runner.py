"""Running the model's Python as a script that ends like a notebook cell.

`RUNNER` is the program text given to `python3 -c`. It takes the code from an open descriptor, so
that there is no file, runs it as `__main__`, shows the value of a last expression, and shows
tracebacks that begin with the code's own lines. It imports nothing before the code runs. Its input
is the sandbox's own /dev/null: by ours, the machine's could be given other permissions.

A prewarmed one is started without the project's environment and without a home (of which the
start-up files are the project's: nothing of a program's may run between two calls) and enters them
when it is let go.
"""

from __future__ import annotations

from pathlib import Path

from modules.sandbox.filesystem.interpreter import Interpreter

SOURCE_NAME = "[code]"
"""The name of the code in tracebacks."""

_RUNNER = """\
def _run_python(descriptor, name, line, python, environment, home):
    import posix
    import sys

    null = posix.open("/dev/null", 0)
    posix.dup2(null, 0)
    posix.close(null)
    if line is not None:
        with open(line, "r+b", buffering=0) as line:
            line.write(b"!")
            line.read()
            line.write(b"!")
        import os
        import site

        os.environ["HOME"] = home
        here = sys.path.pop(0)
        site.USER_SITE = site.USER_BASE = None
        if environment:
            sys.executable, sys.prefix, sys.exec_prefix = python, environment, environment
            site.main()
        elif os.path.isdir(site.getusersitepackages()) and site.ENABLE_USER_SITE:
            shared = [path for path in sys.path if path in site.getsitepackages()]
            sys.path[:] = [path for path in sys.path if path not in shared]
            site.addusersitepackages(set(sys.path))
            sys.path += shared
            site.execusercustomize()
        sys.path.insert(0, here)
    with open(descriptor, encoding="utf-8", newline="") as source:
        code = source.read()
    space = sys.modules["__main__"].__dict__
    del space["_run_python"]

    class Loader:
        @staticmethod
        def get_source(module):
            return code

    space["__loader__"] = Loader
    try:
        tree = compile(code, name, "exec", 0x400)
        parts = [tree]
        if tree.body and type(tree.body[-1]).__name__ == "Expr":
            import _ast

            parts.append(_ast.Interactive(body=[tree.body.pop()]))
        flags = 0
        for part in parts:
            kind = "exec" if part is tree else "single"
            made = compile(part, name, kind, flags, True)
            flags = made.co_flags & 0x1FF0000
            exec(made, space)
    except Exception as error:
        hook = sys.excepthook
        if hook is sys.__excepthook__:
            import traceback

            hook = traceback.print_exception
        trace = error.__traceback__.tb_next
        hook(type(error), error, None if isinstance(error, SyntaxError) and not trace else trace)
        sys.exit(1)


_run_python({descriptor}, {name!r}, {line}, {python!r}, {environment!r}, {home!r})
"""


def runner(
    descriptor: int,
    control_fd: int | None = None,
    interpreter: Interpreter | None = None,
    home: Path | None = None,
) -> str:
    """Return the text for `python3 -c` that runs the code readable from *descriptor*.

    With a *control_fd* it writes a byte there, waits for its end, writes another, and then enters
    the environment of *interpreter*, and *home*.
    """
    environment = str(interpreter.environment or "") if interpreter else ""
    python = str(interpreter.python) if interpreter else ""
    return _RUNNER.format(
        descriptor=descriptor,
        name=SOURCE_NAME,
        line=control_fd,
        python=python,
        environment=environment,
        home=str(home or ""),
    )
