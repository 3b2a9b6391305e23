"""A model that knows the tasks of `integrations/harbor/tasks` by heart, on loopback.

    python3 -m tests.harbor.scripted_model --port 9000

For Harbor's own runner: `--base-url http://127.0.0.1:9000`. It finds the task in the first words of
the person, and plays its steps by how many answers of tools there are already.
"""

from __future__ import annotations

import argparse
import sys

from tests.simulator import Call, ReceivedRequest, Say, Simulator, Step, Think

STEPS: dict[str, tuple[Step, ...]] = {
    "greeting.txt": (Call("create_file", path="greeting.txt", content="Hello, Harbor!\n"),),
    "mean.py": (
        Call("read_file", path="mean.py"),
        (
            Think("It divides by one too many."),
            Say("The divisor is wrong."),
            Call(
                "modify_file",
                path="mean.py",
                operation="replace",
                old_text="len(numbers) + 1",
                new_text="len(numbers)",
            ),
        ),
        Call("run_command", command="python3 mean.py 1 2 3 6"),
    ),
    "sales.csv": (
        Call(
            "run_python",
            code="import csv, json\n"
            "totals = {}\n"
            "for row in csv.DictReader(open('sales.csv')):\n"
            "    totals[row['region']] = totals.get(row['region'], 0) + int(row['amount'])\n"
            "json.dump(totals, open('totals.json', 'w'))\n",
        ),
    ),
    "server.log": (
        Call("search_text", query="ERROR"),
        Call("create_file", path="errors.txt", content="09 2\n11 1\n"),
    ),
    "pictures": (
        (
            Call("rename_file", path="pictures/a b.jpeg", new_path="pictures/a b.jpg"),
            Call("rename_file", path="pictures/old/c.jpeg", new_path="pictures/old/c.jpg"),
        ),
    ),
    "git repository": (
        Call(
            "run_command",
            command="git init -q && echo build >.gitignore && git add . && "
            "git -c user.name=a -c user.email=a@example.org commit -qm Begin && git status --short",
        ),
    ),
    "/etc/motd": (
        Call(
            "run_command",
            command="echo 'Maintenance on Sunday' >/etc/motd && mkdir -p /etc/cron.d && "
            "echo '30 4 * * * root /app/report.sh' >/etc/cron.d/report && chmod +x report.sh",
        ),
    ),
    "over HTTP": (
        Call(
            "run_command",
            command="nohup python3 -m http.server 18642 --bind 127.0.0.1 --directory site "
            ">/tmp/server.log 2>&1 &",
        ),
        Call("run_command", command="curl -s --retry 9 --retry-connrefused http://127.0.0.1:18642"),
    ),
    "backup.sh": (
        Call(
            "create_file",
            path="backup.sh",
            content='#!/bin/sh\n[ -d "$1" ] || exit 2\n'
            'exec tar -czf "$2" --exclude=\'*.tmp\' -C "$1" .\n',
        ),
        Call("run_command", command="chmod +x backup.sh"),
    ),
    "shop.db": (
        Call(
            "run_command",
            command='python3 -c \'import sqlite3; sqlite3.connect("shop.db").executescript('
            '"alter table products add column cents integer;'
            "update products set cents = cast(round(price * 100) as integer);"
            "alter table products drop column price;\")'",
        ),
    ),
}
"""By words that only this task has: what the model does for it, one step after the other."""


def answer(request: ReceivedRequest) -> Step:
    """Return the next step of the task that *request* is about."""
    asked = next(message["content"] for message in request.messages if message["role"] == "user")
    done = sum(message["role"] == "assistant" for message in request.messages)
    for words, steps in STEPS.items():
        if words in asked:
            return steps[done] if done < len(steps) else Say("It is done.")
    raise ValueError(f"No task of ours: {asked!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9000)
    with Simulator(answer, port=parser.parse_args().port) as server:
        sys.stderr.write(f"--base-url {server.url}  (Ctrl-C ends it)\n")
        try:
            server.closing.wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
