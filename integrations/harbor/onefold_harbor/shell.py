"""The commands that install Onefold in the environment of a task and run it there.

They are for bash, and want nothing of the environment but that and a Python or a network.
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

STREAM = "onefold.jsonl"
"""The events of the run, one a line, beside the other logs of the agent."""
SESSION = "onefold-session.json"
"""The session as `/export` writes it: what the model was told and what it read."""
MESSAGES = "onefold-messages.txt"
"""What Onefold said on standard error."""

SET_PATH = 'export PATH="$HOME/.local/bin:$PATH"'
VERSION_COMMAND = f"{SET_PATH}; onefold --version"

_UV = "https://astral.sh/uv/install.sh"
_INSTALL = """
set -eu
{path}
rest="$HOME/.local/share/onefold-harbor"
right_python() {{
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}}
if ! command -v uv >/dev/null && ! right_python; then
    if command -v curl >/dev/null; then
        curl -LsSf {uv} | sh
    elif command -v wget >/dev/null; then
        wget -qO- {uv} | sh
    else
        echo 'Onefold wants Python 3.11, uv, curl or wget in the environment.' >&2
        exit 1
    fi
fi
if command -v uv >/dev/null; then
    uv tool install --quiet --force --python '>=3.11' {source}
else
    python3 -m venv "$rest"
    "$rest/bin/python" -m pip install --quiet --disable-pip-version-check {source}
    mkdir -p "$HOME/.local/bin"
    ln -sf "$rest/bin/onefold" "$HOME/.local/bin/onefold"
fi
onefold --version
"""

_RUN = """
{path}
project=$PWD
if [ "$project" = / ]; then project=$HOME; fi
logs={logs}
code=0
printf %s {instruction} |
    onefold --project "$project" --machine=yes-this-one {options} --output stream-json -p - \
    2>&1 >"$logs/{stream}" | tee "$logs/{messages}" || code=$?
rm -f "$logs/{session}"
onefold --project "$project" --resume -p "/export $logs/{session}" >>"$logs/{messages}" 2>&1 || true
case $code in
    3|4) exit 0 ;;
    0) ;;
    *) tail -n 1 "$logs/{stream}"; exit $code ;;
esac
"""


def install_command(source: str) -> str:
    """Return what installs Onefold from *source*: a wheel there, or what uv and pip call so.

    uv does it where there is one, or has to bring the Python; else a venv of the Python there.
    """
    return _INSTALL.format(path=SET_PATH, uv=_UV, source=shlex.quote(source)).strip()


def run_command(instruction: str, logs: PurePosixPath, options: list[str]) -> str:
    """Return what does the task in the current folder and leaves `STREAM`, `SESSION`, `MESSAGES`.

    A limit that was reached (3) or a refused call (4) is no failure: what stands is to be judged.
    The exit code is that of Onefold otherwise, and the result, which says why, is printed. Wants
    `set -o pipefail`.
    """
    return _RUN.format(
        path=SET_PATH,
        logs=shlex.quote(str(logs)),
        instruction=shlex.quote(instruction_text(instruction)),
        options=shlex.join(options),
        stream=STREAM,
        session=SESSION,
        messages=MESSAGES,
    ).strip()


def instruction_text(instruction: str) -> str:
    """Return *instruction* so that it is none of Onefold's own commands, which begin with "/"."""
    return f"The task:\n\n{instruction}" if instruction.lstrip().startswith("/") else instruction
