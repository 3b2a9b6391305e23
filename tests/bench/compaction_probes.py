"""Sessions that are summed up, and probes of what is still known then: see `bench_compaction`.

A probe is a question with the words that an answer needs. The model that answers knows nothing but
what it is sent, so that an answer is as good as the digest: it has the words, or it has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from core.events import Reply
from tests.assembly import assembled_terminal
from tests.scripted_model import Item, call_reply, run_turn, text_reply

Kind = Literal["recall", "artefacts", "continuation", "decisions"]
KINDS: Sequence[Kind] = ("recall", "artefacts", "continuation", "decisions")


@dataclass(frozen=True)
class Probe:
    """A question of a *kind*; an answer needs all of *words*, and none of *wrong*."""

    kind: Kind
    question: str
    words: tuple[str, ...]
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True)
class Turn:
    """A person's *line*, the *replies* of the model to it, and the *answer* to its questions."""

    line: str
    replies: Sequence[list[Item]]
    answer: str = ""


@dataclass(frozen=True)
class Session:
    """Some *turns* over *files*, a good *summary* of them, and the *probes*."""

    name: str
    files: dict[str, str]
    turns: Sequence[Turn]
    summary: str
    probes: Sequence[Probe]


def call(number: int, name: str, **arguments: Any) -> list[Item]:
    return call_reply(name, id=f"c{number}", **arguments)


def todos(number: int, *todo: tuple[str, str]) -> list[Item]:
    listed = [{"title": title, "status": status} for title, status in todo]
    return call(number, "update_todos", todos=listed)


_LONG = "Nothing of this is needed later. " * 60
MENDING = Session(
    "mending a parser",
    {
        "parser.py": "def day(text):\n    return int(text.split('-')[2])\n",
        "test_parser.py": "from parser import day\nassert day('2026-11-23') == 23\n"
        "assert day('23.11.2026') == 23\nprint('all well')\n",
        "old_notes.txt": "dates came as 23.11.2026 until 2019\n",
        "scratch.txt": "x\n",
    },
    (
        Turn(
            "dates with dots fail in parser.py. Never touch the file LICENSE, and keep Python 3.9 "
            "working",
            [
                call(1, "read_file", path="parser.py"),
                call(2, "read_file", path="old_notes.txt"),
                call(3, "run_command", command="python3 test_parser.py"),
                todos(4, ("accept dots", "in_progress"), ("document the formats", "pending")),
                text_reply("The dots fail: day() splits at dashes only. " + _LONG),
            ],
        ),
        Turn(
            "go on",
            [
                call(5, "ask_person", question="Which separator is written?", choices=["-", "."]),
                call(
                    6,
                    "modify_file",
                    path="parser.py",
                    operation="replace",
                    old="    return int(text.split('-')[2])",
                    new="    parts = text.split('-' if '-' in text else '.')\n"
                    "    return int(parts[2] if '-' in text else parts[0])",
                ),
                call(7, "run_command", command="python3 test_parser.py"),
                text_reply("Both formats are read now; the test passes."),
            ],
            answer="-",
        ),
        Turn(
            "the release is on 3 December. tidy up a little",
            [
                call(8, "delete_file", path="scratch.txt"),
                call(9, "rename_file", path="old_notes.txt", new_path="docs/formats.md"),
                call(10, "run_command", command="printf 'made by the shell\\n' > changes.log"),
                call(11, "run_python", code="raise SystemExit(3)"),
                todos(12, ("accept dots", "completed"), ("document the formats", "in_progress")),
                text_reply("Tidied up. Shall docs/formats.md be in English?"),
            ],
        ),
        Turn("yes, in English", [text_reply("Good. " + _LONG)]),
    ),
    "- day() split at dashes only; old_notes.txt said that dots were used until 2019\n"
    "- both formats are read now, tidied up",
    (
        Probe("recall", "Which file must never be touched?", ("Never touch the file LICENSE",)),
        Probe("recall", "Which Python has to work?", ("Python 3.9",)),
        Probe("recall", "When is the release?", ("3 December",)),
        Probe("recall", "What fails at first?", ("dates with dots fail",)),
        Probe("recall", "Where did day() split?", ("dashes only",)),
        Probe("recall", "Until when were there dots?", ("until 2019",)),
        Probe("artefacts", "Which file was modified?", ("modified parser.py",)),
        Probe("artefacts", "Which file was deleted?", ("deleted scratch.txt",)),
        Probe(
            "artefacts",
            "What became of old_notes.txt?",
            ("renamed old_notes.txt to docs/formats.md",),
        ),
        Probe("artefacts", "Which file did the shell make?", ("created changes.log",)),
        Probe(
            "artefacts",
            "Was the test changed?",
            ("changed, as they are now",),
            ("modified test_parser.py",),
        ),
        Probe("artefacts", "Which files were read?", ("\n- parser.py", "\n- old_notes.txt")),
        Probe(
            "artefacts", "How did the test end last?", ("python3 test_parser.py: exit 0 (2 times",)
        ),
        Probe("artefacts", "Which run failed?", ("raise SystemExit(3): exit 3",)),
        Probe("continuation", "What is still to be done?", ("document the formats",)),
        Probe("continuation", "What is done already?", ("accept dots",)),
        Probe("continuation", "In which language is it to be written?", ("in English",)),
        Probe("decisions", "Which separator is written out?", ("Which separator is written? → -",)),
        Probe("decisions", "Whose word was that?", ("Decisions of this session",)),
    ),
)
TAKEN_BACK = Session(
    "a try that was taken back",
    {"app.py": "PORT = 80\n", "README.md": "# App\n"},
    (
        Turn(
            "try port 8080 in app.py",
            [
                call(1, "modify_file", path="app.py", operation="replace", old="80", new="8080"),
                call(
                    2, "create_file", path="port_notes.md", content="8080 because 80 needs root\n"
                ),
                text_reply("Done. " + _LONG),
            ],
        ),
        Turn("/undo", []),
        Turn(
            "we stay with port 80: the proxy wants it. write that into README.md",
            [
                call(3, "modify_file", path="README.md", operation="append", new="Port 80.\n"),
                call(4, "run_command", command="grep -c 'Port 80' README.md && exit 7"),
                todos(5, ("tell operations", "pending")),
                text_reply("It stands in README.md."),
            ],
        ),
        Turn("thanks, next week more", [text_reply("Until then. " + _LONG)]),
    ),
    "- port 8080 was tried, for 80 needs root, and taken back",
    (
        Probe("recall", "Which port holds?", ("we stay with port 80",)),
        Probe("recall", "Why?", ("the proxy wants it",)),
        Probe("recall", "Why was 8080 tried?", ("80 needs root",)),
        Probe("artefacts", "What was changed?", ("modified README.md",)),
        Probe("artefacts", "Does app.py differ?", ("as they are now",), ("modified app.py",)),
        Probe(
            "artefacts",
            "Is there a port_notes.md?",
            ("as they are now",),
            ("created port_notes.md",),
        ),
        Probe("artefacts", "How did grep end?", ("README.md && exit 7: exit 7",)),
        Probe("continuation", "What comes next?", ("tell operations",)),
        Probe("decisions", "What was decided about the port?", ("we stay with port 80",)),
    ),
)
SESSIONS = (MENDING, TAKEN_BACK)


def held(base: Path, session: Session, summary: str = "- we talked") -> str:
    """Play *session*, sum it up, and return what the model is sent from then on, without the tools.

    The model's own words in the digest are *summary*: as it stands, it knows nothing.
    """
    project = base / "project"
    project.mkdir(parents=True)
    for name, text in session.files.items():
        (project / name).write_text(text)
    with assembled_terminal(
        base, summary_prompt="You sum up a conversation.", approval_mode="all"
    ) as one:
        for turn in session.turns:
            # A plan that is open at the end is asked about: then it says something more.
            one.model.replies = [*turn.replies, text_reply("As I said."), text_reply("Yes.")]
            run_turn(one.terminal, turn.line, Reply(yes=True, text=turn.answer))
        one.model.replies = [text_reply(summary)]
        run_turn(one.terminal, "/compact")
        one.model.replies = [text_reply("I know."), text_reply("All of it.")]
        run_turn(one.terminal, "what do you know?")
        return "\n".join(str(m["content"]) for m in one.model.requests[-1])


def answers(probe: Probe, text: str) -> bool:
    """Return whether who knows *text* alone can answer *probe*."""
    return all(word in text for word in probe.words) and not any(w in text for w in probe.wrong)


def scores(session: Session, text: str) -> dict[Kind, tuple[int, int]]:
    """Return how many probes of each kind *text* answers, and of how many."""
    return {
        kind: (sum(answers(one, text) for one in asked), len(asked))
        for kind in KINDS
        if (asked := [one for one in session.probes if one.kind == kind])
    }
