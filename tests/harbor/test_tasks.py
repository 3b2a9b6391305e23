"""The tasks of `integrations/harbor/tasks` in the container for machines without Docker."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from integrations.harbor.onefold_harbor.container import Container, ContainerError
from integrations.harbor.onefold_harbor.dockerfile import Copy, Run, Unsupported, parse
from tests.own_loop import run_in_own_loop

TASKS = Path(__file__).parents[2] / "integrations" / "harbor" / "tasks"
NAMES = sorted(path.name for path in TASKS.iterdir())


async def reward(task: Path, *, solved: bool) -> str:
    """Return the reward of *task*, after its solution or after nothing at all."""
    container = Container(has_network=False)
    await container.start()
    try:
        recipe = parse((task / "environment" / "Dockerfile").read_text())
        await container.build(recipe, task / "environment")
        await container.run(["mkdir", "-p", "/logs/verifier"])
        if solved:
            await container.put_folder(task / "solution", "/solution")
            await container.run(["/solution/solve.sh"])
        await container.put_folder(task / "tests", "/tests")
        await container.execute(["/tests/test.sh"])
        ended = await container.execute(["cat", "/logs/verifier/reward.txt"])
        return ended.output.strip()
    finally:
        await container.stop()


def test_there_are_ten_tasks_of_one_form() -> None:
    assert len(NAMES) == 10
    for name in NAMES:
        folder = TASKS / name
        assert {path.name for path in folder.iterdir()} == {
            "environment",
            "instruction.md",
            "solution",
            "task.toml",
            "tests",
        }
        for script in (folder / "solution" / "solve.sh", folder / "tests" / "test.sh"):
            assert script.read_text().startswith("#!/bin/bash\n")
            assert os.access(script, os.X_OK)


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_solved_by_its_solution_and_not_by_nothing(name: str) -> None:
    assert run_in_own_loop(reward(TASKS / name, solved=True)) == "1"
    assert run_in_own_loop(reward(TASKS / name, solved=False)) == "0"


def test_a_container_shows_nothing_of_this_machine_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")

    async def tried() -> None:
        container = Container(has_network=False)
        await container.start()
        try:
            for command in (
                ["cat", str(tmp_path / "secret")],
                ["touch", "/usr/here"],
                ["mount", "-o", "remount,rw,bind", "/usr"],
                ["sh", "-c", "echo 60 >/proc/sys/vm/swappiness"],
                ["cat", "/etc/shadow"],
            ):
                assert (await container.execute(command)).code != 0, command
            await container.run(["sh", "-c", "echo here >/etc/motd; mkdir /made"])
            await container.run(["ln", "-s", str(tmp_path / "secret"), "/made/link"])
            await container.run(["mkfifo", "/made/pipe"])
            await container.put_file(tmp_path / "secret", "/made/deep/er")
            await container.take_folder("/made", tmp_path / "taken")
            with pytest.raises(ContainerError, match="No such file"):
                await container.take_file("/made/link", tmp_path / "taken" / "link")
            await container.run(["chmod", "000", "/made"])
        finally:
            root = container.root
            await container.stop()
        assert root is not None
        assert not root.exists()

    run_in_own_loop(tried())
    taken = tmp_path / "taken"
    assert sorted(path.name for path in taken.rglob("*")) == ["deep", "er"]


def test_what_a_command_started_goes_on_and_what_takes_too_long_does_not() -> None:
    async def tried() -> None:
        container = Container(has_network=False)
        await container.start()
        try:
            await container.run(["sh", "-c", "setsid sleep 601 & echo left"])
            with pytest.raises(TimeoutError):
                await container.execute(["sh", "-c", "sleep 602 & sleep 603"], seconds=0.5)
            left = await container.execute(
                ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o '[s]leep 60.'"]
            )
            assert left.output.split("\n")[:-1] == ["sleep 601"]
        finally:
            await container.stop()

    run_in_own_loop(tried())


def test_a_dockerfile_is_followed_as_far_as_that_goes_without_docker() -> None:
    recipe = parse(
        "# a remark\nFROM debian AS base\nENV A=1 B='two words'\nENV PATH=/opt/x:$PATH\n"
        'WORKDIR /app\nWORKDIR src\nCOPY a b /app/\nCOPY ["c d", "."]\n'
        'RUN echo $A && \\\n    true\nRUN ["ls", "a b"]\nUSER root\nCMD x\n'
    )
    assert recipe.folder == "/app/src"
    assert recipe.variables["B"] == "two words"
    assert recipe.variables["PATH"].startswith("/opt/x:/usr/local/sbin:")
    assert recipe.steps[:2] == [
        Copy(("a", "b"), "/app/", "/app/src"),
        Copy(("c d",), ".", "/app/src"),
    ]
    commands = [step.command for step in recipe.steps if isinstance(step, Run)]
    assert [command.split() for command in commands] == [
        ["echo", "$A", "&&", "true"],
        ["ls", "'a", "b'"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        "FROM a\nFROM b\n",
        "FROM a\nADD x /\n",
        "FROM a\nUSER agent\n",
        "FROM a\nCOPY --from=b x /\n",
        "FROM a\nRUN --mount=type=cache true\n",
        "FROM a\nRUN cat <<END\nEND\n",
    ],
)
def test_what_only_docker_can_do_is_refused(text: str) -> None:
    with pytest.raises(Unsupported, match="needs Docker"):
        parse(text)
