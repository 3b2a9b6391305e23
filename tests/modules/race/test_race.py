"""Races: racers that work, fail, hang, ask, overrun and are stopped; what is taken and left."""

from __future__ import annotations

import json
import random
import subprocess
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

import pytest

from core.cards import TableCard, TextCard
from core.conversation.history import usage_in
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Informed,
    Reply,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from core.main_terminal import MainTerminal
from modules.race.kept_races import KeptRaces, Racer
from modules.race.racer_thread import Inbox, Over, RacerThread
from modules.storage.data_folder import DataFolder
from tests.campaign import seeded
from tests.racing import Racing, Responder, content_of, creates, racing, start, writes
from tests.simulator import Call, Refuse, Say, Simulator, Stall
from tests.simulator.script import Step
from tests.simulator.server import ReceivedRequest
from utils.i18n import phrase


def taking(number: int) -> Callable[[ApprovalAsked], Reply]:
    return lambda _: Reply(yes=True, text=str(number))


def end_of(events: list[Event]) -> TurnFinished:
    assert isinstance(events[-1], TurnFinished)
    return events[-1]


def told(events: list[Event]) -> list[str]:
    return [str(event.what) for event in events if isinstance(event, Informed)]


def table_of(events: list[Event]) -> TableCard:
    cards = [one.card for one in events if isinstance(one, ToolFinished)]
    return next(card for card in cards if isinstance(card, TableCard))


def answer_to(events: list[Event]) -> CommandAnswered:
    assert isinstance(events[-1], CommandAnswered)
    return events[-1]


MESS = (
    "rm gone.txt; chmod 755 a.txt; ln -s a.txt link; mkdir sub; mv m.txt sub/m2.txt; "
    "printf 'more\\n' >> a.txt; printf '\\000\\377' > raw.bin; mkdir -p deep/er; chmod 700 deep"
)


def test_what_is_taken_is_the_copy_byte_for_byte_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("a.txt", "gone.txt", "m.txt"):
        (project / name).write_text(f"{name}\n")
    before = content_of(project)
    racers = [creates("1\n"), writes(Call("run_command", command=MESS)), creates("3\n")]
    copy: dict[str, tuple[int, bytes]] = {}

    def choose(asked: ApprovalAsked) -> Reply:
        # Which conversation was begun first is not which racer: see which copy has the link.
        number = next(n for n, one in enumerate(at.copies(), 1) if (one / "link").is_symlink())
        copy.update(content_of(at.copies()[number - 1]))
        return taking(number)(asked)

    with racing(tmp_path, Responder(racers)) as at:
        events = at.run("/race 3 Do it.", choose)
        assert end_of(events).why == "done"
        assert copy
        assert content_of(project) == copy
        assert at.copies() == []
        assert len(list((at.data / "projects").iterdir())) == 1
        assert at.terminal.usage.requests == len(at.server.requests)
        at.run("And now?")
        said = "\n".join(str(one["content"]) for one in at.server.requests[-1].messages)
        assert "took one result: Do it." in said
        assert "renamed sub/m2.txt" in said
        at.run("/undo")
        assert content_of(project) == before
        at.run("/redo")
        assert content_of(project) == copy


def test_the_results_stand_side_by_side_and_the_model_says_which_is_better(tmp_path: Path) -> None:
    responder = Responder([creates("1\n"), creates("2\n2\n"), creates("3\n")])
    responder.verdict = Say("B\nIt is complete.")
    with racing(tmp_path, responder) as at:
        events = at.run("/race 3 Do it.", lambda _: Reply(yes=False))
        table = table_of(events)
        assert len(table.rows) == 3
        assert all("1 file, +" in str(row[3]) for row in table.rows)
        assert len(responder.pairs) == 2  # the winner against the next
        proposed = [str(row[0]) for row in table.rows if "proposed" in str(row[0])]
        assert len(proposed) == 1
        assert sum("It is complete." in one for one in told(events)) == 2
        assert any("Nothing was taken. /race take asks again" in one for one in told(events))
        assert not (at.root / "new.txt").exists()
        number = proposed[0].split()[0]
        shown = answer_to(at.run(f"/race show {number}")).card
        assert isinstance(shown, TextCard)
        assert "All done." in str(shown.body)
        assert "new.txt\n@@ -0,0 +1" in str(shown.body)
        content = (at.copies()[int(number) - 1] / "new.txt").read_text()
        at.run(f"/race take {number}")
        assert (at.root / "new.txt").read_text() == content
        assert at.copies() == []


def test_a_pair_is_read_with_what_both_changed_alike_told_once(tmp_path: Path) -> None:
    alike = Call("create_file", path="alike.txt", content="the same in all\n")
    responder = Responder(
        [
            writes(alike, Call("create_file", path="own.txt", content="of one\n")),
            writes(alike, Call("create_file", path="own.txt", content="of two\nof two\n")),
            writes(alike),
        ]
    )
    with racing(tmp_path, responder) as at:
        at.run("/race 3 Do it.", lambda _: Reply(yes=False))
        read = [str(pair.messages[1]["content"]) for pair in responder.pairs]
        assert [text.count("the same in all") for text in read] == [1, 1]
        begin = "The task:\nDo it.\n\nThe changes that are the same in A and B:\n--- alike.txt\n"
        assert all(text.startswith(begin) for text in read)
        assert ["(none)" in text for text in read] == [True, True]  # the third has no others
        assert "of one" in read[0]
        assert read[1].count("of two") == 2


def test_checks_decide_before_the_model_does(tmp_path: Path) -> None:
    responder = Responder([creates("bad\n"), creates("good\n"), creates("bad\n")])
    with racing(tmp_path, responder, checks=("grep -q good new.txt",)) as at:
        at.race.takes_proposed = True
        events = at.run("/race 3 Do it.")
        assert (at.root / "new.txt").read_text() == "good\n"
        assert responder.pairs == []
        assert sorted(str(row[2]) for row in table_of(events).rows) == [
            "failed",
            "failed",
            "passed",
        ]


@pytest.mark.parametrize("verdict", [Refuse(400), Say("Both are nice.")])
def test_where_the_model_cannot_compare_the_smaller_diff_goes_first(
    tmp_path: Path, verdict: Step
) -> None:
    responder = Responder([creates("1\n2\n3\n"), creates("short\n")], verdict=verdict)
    with racing(tmp_path, responder) as at:
        at.race.takes_proposed = True
        events = at.run("/race 2 Do it.")
        assert (at.root / "new.txt").read_text() == "short\n"
        assert "The model did not compare all: fewer changed lines decide." in told(events)


def test_one_that_fails_or_overruns_is_not_proposed(tmp_path: Path) -> None:
    def loops(_: ReceivedRequest, step: int) -> Step:
        return Call("create_file", path=f"loop-{step}.txt", content="x")

    def fails(_: ReceivedRequest, step: int) -> Step:
        return Refuse(401) if step > 1 else Call("create_file", path="half.txt", content="x")

    with racing(tmp_path, Responder([loops, fails, creates("ok\n")]), step_limit=4) as at:
        at.race.takes_proposed = True
        events = at.run("/race 3 Do it.")
        ends = sorted(str(row[1]).partition(":")[0] for row in table_of(events).rows)
        assert ends == ["done", "failed", "step limit"]
        assert content_of(at.root).keys() == {"new.txt"}
        assert at.copies() == []


def test_a_stop_ends_all_and_leaves_what_there_is(tmp_path: Path) -> None:
    def hangs(_: ReceivedRequest, step: int) -> Step:
        if step == 1:
            return Call("create_file", path="half.txt", content="x")
        hanging.append(step)
        if len(hanging) == 2:
            at.terminal.stop.set()
        return Stall()

    hanging: list[int] = []
    with racing(tmp_path, Responder([hangs, hangs])) as at:
        events = at.run("/race 2 Do it.")
        assert end_of(events).why == "stopped"
        assert not (at.root / "half.txt").exists()
        assert len(at.copies()) == 2
    with racing(tmp_path, Responder([])) as at:  # a new start
        at.terminal.resume()
        at.run("/race take 1")
        assert (at.root / "half.txt").read_text() == "x"
        assert at.copies() == []


def test_a_stop_counts_for_a_racer_whose_thread_has_hardly_begun(tmp_path: Path) -> None:
    inbox: Inbox = SimpleQueue()
    with racing(tmp_path, Responder([creates("1\n")])) as at:
        racer = RacerThread(1, at.terminal, "Do it.", inbox, lambda error: phrase(str(error)))
        racer.stop()
        racer.start()
        racer.join()
        said = [inbox.get()[1] for _ in range(inbox.qsize())]
        ends = [one.why for one in said if isinstance(one, TurnFinished)]
        assert (ends, said[-1], at.server.requests) == (["stopped"], Over(), [])


def test_a_racers_question_says_who_asks_and_the_answer_is_its_own(tmp_path: Path) -> None:
    asked: list[ApprovalAsked] = []

    def answer(question: ApprovalAsked) -> Reply:
        asked.append(question)
        if question.name == "ask_person":
            return Reply(yes=True, text="blue")
        return Reply(yes=True, text="None; remove all copies")

    def asks(request: ReceivedRequest, step: int) -> Step:
        if step == 1:
            return Call("ask_person", question="Which colour?", choices=["red", "blue"])
        if step == 2:
            return Call("create_file", path="colour.txt", content=request.last_answer)
        return Say("All done.")

    with racing(tmp_path, Responder([asks, creates("2\n")])) as at:
        events = at.run("/race 2 Do it.", answer)
        assert str(asked[0].why) in (
            "Racer 1 asks: Which colour?",
            "Racer 2 asks: Which colour?",
        )
        bodies = [one.card.body for one in events if isinstance(one, ToolFinished)
                  and isinstance(one.card, TextCard)]  # fmt: skip
        assert any("blue" in str(body) for body in bodies)
        assert content_of(at.root) == {}
        assert at.copies() == []


def test_the_question_of_a_racers_helper_is_one_of_a_call_that_is_shown(tmp_path: Path) -> None:
    asked: list[ApprovalAsked] = []

    def answer(question: ApprovalAsked) -> Reply:
        asked.append(question)
        return Reply(yes=True, text="red")

    responder = Responder([writes(Call("delegate", task="Find a colour.")), creates("2\n")])

    def helper_asks(request: ReceivedRequest) -> Step:
        if request.last_user.startswith("Task: "):
            has_asked = request.messages[-1]["role"] == "tool"
            choices = ["red", "blue"]
            return (
                Say(request.last_answer)
                if has_asked
                else Call("ask_person", question="Which colour?", choices=choices)
            )
        return responder(request)

    with racing(tmp_path, helper_asks) as at:
        events = at.run("/race 2 Do it.", answer)
        started = {one.call_id for one in events if isinstance(one, ToolStarted)}
        assert (asked[0].call_id, asked[0].call_id in started) == (asked[0].parent, True)
        assert "The helper for “Find a colour.” asks: Which colour?" in str(asked[0].why)


def test_a_budget_caps_the_whole_race(tmp_path: Path) -> None:
    def spends(_: ReceivedRequest, step: int) -> Step:
        return Call("create_file", path=f"{step}.txt", content="x" * 2_000)

    with racing(tmp_path, Responder([spends, spends, spends]), task_budget=0.003) as at:
        events = at.run("/race 3 Do it.")
        assert {str(row[1]) for row in table_of(events).rows} == {"budget used up"}
        steps = [usage_in(record) for _, record in at.terminal.history.log]
        costs = [usage.cost_usd for usage in steps if usage]
        assert 0.003 <= sum(costs) <= 0.003 + 3 * max(costs)
        assert at.terminal.usage.cost_usd == pytest.approx(sum(costs))


def requests_at_starts(at: Racing) -> list[int]:
    """Return a list that gets, as each racer starts, how many requests were answered by then."""
    found: list[int] = []
    usual = at.race.open_racer
    assert usual

    def opened(folder: Path, racer: Racer) -> AbstractContextManager[MainTerminal]:
        found.append(at.terminal.usage.requests)
        return usual(folder, racer)

    at.race.open_racer = opened
    return found


def test_three_racers_miss_little_more_than_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What went before is long, and the server's cache has it again only after a whole reply."""
    monkeypatch.setattr("modules.race.running.HEAD_START_SECONDS", 600.0)

    def works(_: ReceivedRequest, step: int) -> Step:
        return Call("create_file", path=f"{step}.txt", content="x") if step < 4 else Say("Done.")

    def missed(line: str, count: int) -> int:
        base = tmp_path / str(count)
        with racing(base, Responder([])) as at:
            at.run(f"Remember this: {' '.join(map(str, range(8_000)))}")
        with racing(base, Responder([works] * count)) as at:
            at.terminal.resume()
            begun = requests_at_starts(at)
            at.run(line, lambda _: Reply(yes=False))
            assert [number > begun[0] for number in begun[1:]] == [True] * (len(begun) - 1)
            requests = [one for one in at.server.requests if len(one.messages) > 2]
            assert len(requests) == 4 * count
            return sum(one.usage["prompt_cache_miss_tokens"] for one in requests)

    assert missed("/race 3 Do it.", 3) <= 1.3 * missed("Do it.", 1)


def test_no_racer_waits_for_long_for_a_reply_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modules.race.running.HEAD_START_SECONDS", 0.001)

    def goes_on(_: ReceivedRequest, __: int) -> Step:
        return Say("Let me think"), Stall()

    def ends(_: ReceivedRequest, __: int) -> Step:
        at.terminal.stop.set()
        return Say("Done.")

    with racing(tmp_path, Responder([goes_on, ends])) as at:
        events = at.run("/race 2 Do it.")
        assert end_of(events).why == "stopped"
        assert len(at.server.requests) == 2


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    command = ["git", *identity, *words]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


COMMITS = "echo new > a.txt; git -c user.name=A -c user.email=a@x.org commit -qam Second"


def repository_in(folder: Path) -> Path:
    """Make *folder* a repository with one file and one commit."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("old\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "First")
    return folder


def test_commits_of_a_racer_are_taken_and_one_undo_takes_them_back(tmp_path: Path) -> None:
    project = repository_in(tmp_path / "project")
    first = git(project, "rev-parse", "HEAD")
    again = "echo staged > b.txt; git add b.txt"
    racer = writes(Call("run_command", command=f"{COMMITS}; {COMMITS} --amend; {again}"))
    with racing(tmp_path, Responder([racer, racer])) as at:
        events = at.run("/race 2 Do it.", taking(1))
        assert "2 files, +2 −1, 2 commits" in [str(row[3]) for row in table_of(events).rows]
        assert git(project, "log", "--format=%s") == "Second\nFirst"
        assert git(project, "status", "--short") == "A  b.txt"
        assert git(project, "fsck", "--strict") == ""
        assert at.copies() == []
        at.run("/undo")
        assert git(project, "rev-parse", "HEAD") == first
        assert git(project, "status", "--short") == ""
        at.run("/redo")
        assert git(project, "log", "--format=%s") == "Second\nFirst"


def test_commits_stay_in_the_copy_where_the_person_has_made_one_meanwhile(tmp_path: Path) -> None:
    project = repository_in(tmp_path / "project")

    def choose(asked: ApprovalAsked) -> Reply:
        git(project, "commit", "-q", "--allow-empty", "-m", "Mine")
        return taking(1)(asked)

    racer = writes(Call("run_command", command=COMMITS))
    with racing(tmp_path, Responder([racer, racer])) as at:
        events = at.run("/race 2 Do it.", choose)
        assert git(project, "log", "--format=%s") == "Mine\nFirst"
        assert git(project, "status", "--short") == "M a.txt"
        assert "Not all of it could be taken" in told(events)[-1]
        assert "Second" in git(at.copies()[0], "log", "--format=%s")


def test_a_racer_in_a_linked_work_tree_leaves_the_repository_alone(tmp_path: Path) -> None:
    origin = repository_in(tmp_path / "origin")
    project = tmp_path / "project"
    git(origin, "worktree", "add", "-q", str(project))
    before = git(project, "rev-parse", "HEAD"), git(project, "ls-files", "-s")
    racer = writes(Call("run_command", command=f"{COMMITS}; true"))
    with racing(tmp_path, Responder([racer, racer])) as at:
        at.race.takes_proposed = True
        at.run("/race 2 Do it.")
        assert (project / "a.txt").read_text() == "new\n"
        assert (git(project, "rev-parse", "HEAD"), git(project, "ls-files", "-s")) == before
        assert git(project, "status", "--short") == "M a.txt"
        assert at.copies() == []
        at.run("/undo")
        assert git(project, "status", "--short") == ""


def test_without_a_dialogue_the_proposed_one_is_taken_and_the_table_is_the_answer(
    tmp_path: Path,
) -> None:
    (tmp_path / "project").mkdir()
    responder = Responder([creates("1\n"), creates("2\n2\n")], verdict=Refuse(400))
    with Simulator(responder) as server:
        with start(tmp_path, server, "race", "2", "Do", "it.", "--output", "json") as process:
            said = json.loads(process.communicate(timeout=300)[0])
        assert process.returncode == 0
        assert said["status"] == "done"
        assert said["files"]["created"] == ["new.txt"]
        assert "(taken)" in said["answer"]
        assert said["usage"]["requests"] == len(responder_requests(server))
        assert (tmp_path / "project" / "new.txt").read_text() == "1\n"


def responder_requests(server: Simulator) -> list[ReceivedRequest]:
    return [one for one in server.requests if one.usage]


def test_a_kill_loses_nothing_and_what_is_over_goes_with_the_next_turn(tmp_path: Path) -> None:
    def hangs(_: ReceivedRequest, step: int) -> Step:
        if step == 1:
            return Call("create_file", path="half.txt", content="x")
        hanging.release()
        return Stall()

    hanging = threading.Semaphore(0)
    (tmp_path / "project").mkdir()
    with (
        Simulator(Responder([hangs, hangs])) as server,
        start(tmp_path, server, "race", "2", "Do it.") as process,
    ):
        assert hanging.acquire(timeout=300)
        assert hanging.acquire(timeout=300)
        process.kill()
    with racing(tmp_path, Responder([]), task_budget=0.0) as at:
        at.terminal.resume()
        events = at.run("Hello?")
        assert any("waits for a choice" in one for one in told(events))
        table = answer_to(at.run("/race")).card
        assert isinstance(table, TableCard)
        assert [str(row[1]) for row in table.rows] == ["interrupted", "interrupted"]
        assert ["1 file, +1" in str(row[3]) for row in table.rows] == [True, True]
        assert not (at.root / "half.txt").exists()
        (race,) = at.race.waiting()
        KeptRaces(DataFolder(at.data, at.root).races).save(replace(race, is_over=True))
        assert len(at.copies()) == 2
        at.run("Hello?")
        assert at.copies() == []
        assert len(list((at.data / "projects").iterdir())) == 1
        assert not answer_to(at.run("/race take 1")).ok


class Killed(BaseException):
    """The program ends here, without a word."""


def test_who_was_killed_at_the_choice_is_asked_again_and_who_put_it_off_is_not(
    tmp_path: Path,
) -> None:
    def kill(_: ApprovalAsked) -> Reply:
        raise Killed

    racers = Responder([creates("1\n"), creates("1\n")])
    with racing(tmp_path, racers) as at, pytest.raises(Killed):
        at.run("/race 2 Do it.", kill)
    asked: list[ApprovalAsked] = []

    def put_off(question: ApprovalAsked) -> Reply:
        asked.append(question)
        return Reply(yes=False)

    with racing(tmp_path, Responder([])) as at:
        at.terminal.resume()
        assert at.terminal.line_to_ask_again == "/race take"
        events = at.run(at.terminal.line_to_ask_again, put_off)
        assert len(table_of(events).rows) == 2
        assert "2 results" in told(events)[-1]
        assert [str(one) for one in asked[0].choices][-1] == "None; remove all copies"
        assert at.terminal.line_to_ask_again == ""
    with racing(tmp_path, Responder([])) as at:
        at.terminal.resume()
        assert at.terminal.line_to_ask_again == ""
        at.run("/race take", taking(2))
        assert (at.root / "new.txt").read_text() == "1\n"
        assert at.copies() == []
        assert not answer_to(at.run("/race take")).ok


def lines_of(rng: random.Random, lines: list[str], who: str) -> list[str]:
    """Return *lines* as *who* edits them: some changed, some gone, some new."""
    edited = []
    for line in lines:
        kind = rng.random()
        if kind < 0.1:
            edited.append(f"{line} {who}")
        elif kind >= 0.15:
            edited.append(line)
        if kind > 0.93:
            edited.append(f"new of {who} {rng.randrange(1_000)}")
    return edited


@seeded(3)
def test_a_folder_that_changed_meanwhile_is_merged_and_no_line_is_lost(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    project = tmp_path / "project"
    project.mkdir()
    base = {f"{n}.txt": [f"line {n} {i}" for i in range(rng.randrange(3, 40))] for n in range(6)}
    for name, lines in base.items():
        (project / name).write_text("".join(f"{line}\n" for line in lines))
    theirs = {name: lines_of(rng, lines, "racer") for name, lines in base.items()}
    mine = {name: lines_of(rng, lines, "person") for name, lines in base.items()}
    script = "; ".join(
        f"printf '%s\\n' {' '.join(repr(one) for one in lines)} > {name}"
        for name, lines in theirs.items()
    )
    racers = [writes(Call("run_command", command=script))] * 2

    def choose(asked: ApprovalAsked) -> Reply:
        for name, lines in mine.items():
            (project / name).write_text("".join(f"{line}\n" for line in lines))
        return taking(1)(asked)

    with racing(tmp_path, Responder(racers)) as at:
        events = at.run("/race 2 Do it.", choose)
        kept = {path.name: path.read_text().splitlines() for path in project.iterdir()}
        table = [one.card for one in events if isinstance(one, ToolFinished)][-1]
        for name in base:
            beside = kept.get(f"{name}.undo-conflict")
            if beside is None:
                new = [one for one in theirs[name] + mine[name] if one not in base[name]]
                assert [one for one in new if one not in kept[name]] == []
            else:
                assert kept[name] == mine[name]
                assert beside == theirs[name]
                assert f"{name}.undo-conflict" in str(table)
        at.run("/undo")
        for name in base:
            assert (project / name).read_text().splitlines() == mine[name]
