"""An evaluation of Onefold by Inspect, https://inspect.aisi.org.uk, whose bridge is its model.

    inspect eval integrations/inspect/onefold_eval.py --model openai/gpt-5
    python3 integrations/inspect/onefold_eval.py     with a scripted model: no key, no network

Inspect puts a server into the sandbox of a sample, which answers with the model of the evaluation;
to Onefold that is `DEEPSEEK_BASE_URL`. `onefold` has to be on PATH there.
"""

from __future__ import annotations

import sys

from inspect_ai import Task, eval, task
from inspect_ai.agent import Agent, AgentState, agent, sandbox_agent_bridge
from inspect_ai.dataset import Sample
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import sandbox

PORT = 13131
FINISHED = (0, 3, 4)  # done, at a limit, refused: what stands is to be judged
SAMPLES = [
    Sample(
        id="mend",
        input="`mean.py` prints a wrong mean of the numbers that it is given. Mend it.",
        files={
            "mean.py": "import sys\n\nnumbers = [float(word) for word in sys.argv[1:]]\n"
            "print(sum(numbers) / (len(numbers) + 1))\n"
        },
        target="3.0",
        metadata={"check": ["python3", "mean.py", "1", "2", "3", "6"]},
    ),
    Sample(
        id="write",
        input="Write the file `greeting.txt`. Its only line is `Hello, Inspect!`",
        target="Hello, Inspect!",
        metadata={"check": ["cat", "greeting.txt"]},
    ),
]


@task
def onefold_small(box: str = "local") -> Task:
    """Two small tasks in the sandbox *box*; "local" is this machine, and so Onefold's own is on."""
    leave = ["--approve", "all"] if box == "local" else ["--machine=yes-this-one"]
    return Task(dataset=SAMPLES, solver=onefold(leave), scorer=prints_target(), sandbox=box)


@agent
def onefold(options: list[str]) -> Agent:
    """Onefold with *options*, asking the model of the evaluation."""

    async def execute(state: AgentState) -> AgentState:
        async with sandbox_agent_bridge(state, port=PORT) as bridge:
            ended = await sandbox().exec(
                ["onefold", "--project", ".", "--model", "inspect", *options, "-p", "-"],
                input=state.messages[-1].text,
                env={
                    "DEEPSEEK_BASE_URL": f"http://127.0.0.1:{bridge.port}/v1",
                    "DEEPSEEK_API_KEY": "inspect",
                },
            )
            if ended.returncode not in FINISHED:
                raise RuntimeError(f"onefold: exit code {ended.returncode}: {ended.stderr}")
            return bridge.state

    return execute


@scorer(metrics=[accuracy()])
def prints_target() -> Scorer:
    """A sample is solved when the command of its `check` prints its target."""

    async def score(state: TaskState, target: Target) -> Score:
        ended = await sandbox().exec(state.metadata["check"])
        return Score(value=ended.stdout.strip() == target.text, explanation=ended.stdout)

    return score


def scripted_model() -> Model:
    """Return a model that solves the samples in their order, and calls a real tool for each."""
    edit = {
        "path": "mean.py",
        "operation": "replace",
        "old_text": "len(numbers) + 1",
        "new_text": "len(numbers)",
    }
    made = {"path": "greeting.txt", "content": "Hello, Inspect!\n"}
    name = "mockllm/model"
    model = get_model(
        name,
        custom_outputs=[
            ModelOutput.for_tool_call(name, "read_file", {"path": "mean.py"}),
            ModelOutput.for_tool_call(name, "modify_file", edit),
            ModelOutput.from_content(name, "Mended."),
            ModelOutput.for_tool_call(name, "create_file", made),
            ModelOutput.from_content(name, "Written."),
        ],
    )
    model.api.count_text_tokens = count_roughly  # Inspect's own fetches a table from the network
    return model


async def count_roughly(text: str) -> int:
    """Return about how many tokens *text* has."""
    return len(text) // 4 + 1


def main() -> int:
    """Run the samples one after the other with the scripted model; 0 where it solved both."""
    (log,) = eval(onefold_small(), model=scripted_model(), max_samples=1)
    scores = log.results.scores if log.results else []
    print(log.status, [score.metrics["accuracy"].value for score in scores], log.location)
    return 0 if [score.metrics["accuracy"].value for score in scores] == [1.0] else 1


if __name__ == "__main__":
    sys.exit(main())
