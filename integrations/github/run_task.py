"""The step of the GitHub Action: run one task, and hand its result to the steps after it.

`python3 run_task.py ONEFOLD...` with the inputs in the environment (action.yml); the exit code is
that of Onefold. Needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def main(onefold: Sequence[str], environment: Mapping[str, str]) -> int:
    options = options_of(environment)
    ended = subprocess.run([*onefold, *options], stdout=subprocess.PIPE, check=False)
    try:
        result = json.loads(ended.stdout)
    except ValueError:  # it said on standard error why it did not begin
        return ended.returncode or 1
    write_outputs(Path(environment["GITHUB_OUTPUT"]), result)
    with Path(environment["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
        summary.write(f"{summary_of(result)}\n")
    return ended.returncode


def options_of(environment: Mapping[str, str]) -> list[str]:
    """Return the options of `onefold` for the inputs of the action."""
    task = environment["INPUT_TASK"]
    options = ["--project", environment["GITHUB_WORKSPACE"], "--output", "json", f"-p={task}"]
    if environment.get("INPUT_MACHINE") == "true":
        options.append("--machine")
    else:
        options += ["--approve", environment.get("INPUT_APPROVE") or "read-only"]
    if schema := environment.get("INPUT_OUTPUT_SCHEMA"):
        options += ["--output-schema", schema]
    return options


def write_outputs(path: Path, result: Mapping[str, Any]) -> None:
    """Append the outputs to *path*; no answer can end its own, or begin another."""
    end = f"end-{secrets.token_hex(16)}"
    outputs = {
        "answer": result["answer"],
        "status": result["status"],
        "cost-usd": f"{result['usage']['cost_usd']:.4f}",
    }
    with path.open("a", encoding="utf-8") as file:
        for name, value in outputs.items():
            file.write(f"{name}<<{end}\n{value}\n{end}\n")


def summary_of(result: Mapping[str, Any]) -> str:
    """Return the result as Markdown for the page of the run."""
    facts = f"{result['status']} · {result['steps']} steps · ${result['usage']['cost_usd']:.4f}"
    return "\n\n".join(filter(None, (f"### Onefold: {facts}", result["answer"], result["error"])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
