"""A session in which one program after the other does its worst, and which then goes on working."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.simulator import Call, Say, Simulator, Step

ROOT = Path(__file__).parents[1]
MEMORY = (
    "import os, time\nfor n in range(6):\n"
    "    if os.fork() == 0:\n        b = bytearray(900 << 20)\n        time.sleep(30)\n"
    "for n in range(6): os.wait()"
)
DAEMON = (
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        while True:\n            open('beat', 'a').write('x')\n            time.sleep(0.02)\n"
    "    os._exit(0)\nwhile not os.path.exists('beat'): time.sleep(0.01)\n'away'"
)
FILLER = (
    "import os\nos.mkdir('fill')\nfor n in range(40):\n    with open(f'fill/{n}', 'wb') as f:\n"
    "        for _ in range(256): f.write(bytes(1 << 20))\n"
)
SCRIPT: list[Step] = [
    Call("run_command", command="bomb() { bomb | bomb & }; bomb; sleep 100", timeout=100),
    Call("run_python", code=MEMORY),
    Call("run_command", command="yes"),
    Call("run_python", code=FILLER),
    Call("run_python", code=DAEMON),
    Call("run_command", command="rm -r fill; cat a.txt; wc -c < beat"),
    Call("run_python", code="import time\ntime.sleep(0.3)\nlen(open('beat').read())"),
    Call("create_file", path="b.txt", content="still here\n"),
    Say("Done."),
]


def test_a_session_survives_every_bomb(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    for n in range(20):  # so that to remove what filled the disk is no loss to ask about
        (project / f"kept{n}").touch()
    with Simulator(SCRIPT) as server:
        result = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), "-p", "go", "--output", "json"],
            cwd=project,
            env={
                **os.environ,
                "ONEFOLD_DATA_DIR": str(tmp_path / "data"),
                "DEEPSEEK_API_KEY": "sk-test",
                "DEEPSEEK_BASE_URL": server.url,
            },
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        told = server.requests[-1].messages
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["status"] == "done"
    answers = [str(message["content"]) for message in told if message["role"] == "tool"]
    forks, memory, output, disk, daemon, normal, still, created = answers
    assert forks.startswith("Killed: it had more than 256 processes")
    assert memory.startswith("Killed: it used more than 2,048 MiB of memory")
    assert output.startswith("Killed: it wrote over 20,000,000 bytes of output")
    assert disk.startswith("Killed: it wrote over 1,024 MiB to disk")
    assert "'away'" in daemon
    assert "\none\n" in normal
    beats = [text.split("\n")[2 if text is normal else 1] for text in (normal, still)]
    assert beats[0] == beats[1]
    assert created.startswith("Created b.txt")
    names = {path.name for path in project.iterdir() if not path.name.startswith("kept")}
    assert names == {"a.txt", "b.txt", "beat"}
