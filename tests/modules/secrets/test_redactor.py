from __future__ import annotations

import base64
import html
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import Settings
from core.cards import DiffCard, RunCard
from core.events import Event, ToolFinished
from core.loop.turn import drive
from core.redaction import StreamRedactor, map_strings
from modules.secrets.env_files import secrets_in
from modules.secrets.redactor import Secrets
from tests.assembly import assembled_terminal
from tests.declared_tools import tool_named
from tests.scripted_model import call_reply, text_reply
from tests.simulator import Call, Say, Simulator, Step
from utils.i18n import phrase

ROOT = Path(__file__).parents[3]
PASSWORD = "hunter2-and-more"
ENV = f"""\
# settings
export DB_PASSWORD="{PASSWORD}"
DEBUG=true
PORT=8080
HOST=localhost
API_URL=https://api.example.com/v1
DATABASE_URL=postgres://me:p4ssw0rd-of-db@localhost:5432/x
AWS=AKIAIOSFODNN7EXAMPLE  # the key
OPEN_TOKEN="never-closed-1
SSH_KEY_PATH=/home/me/.ssh/id
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".env").write_text(ENV)
    return folder


def family(root: Path, **known: str) -> Secrets:
    return Secrets(root, known, root.parent / "shown")


def test_what_is_secret_and_what_is_not() -> None:
    assert dict(secrets_in(ENV)) == {
        "DB_PASSWORD": PASSWORD,
        "DATABASE_URL": "p4ssw0rd-of-db",
        "AWS": "AKIAIOSFODNN7EXAMPLE",
        "OPEN_TOKEN": "never-closed-1",
    }


def test_values_become_names_in_whatever_form(root: Path) -> None:
    secrets = family(root)
    data = PASSWORD.encode()
    for form in (
        PASSWORD, PASSWORD[::-1], data.hex(), base64.b64encode(data).decode().rstrip("=")[:-1],
        base64.b64encode(b"me:" + data + b"!").decode(), json.dumps(PASSWORD),
    ):  # fmt: skip
        assert "«SECRET:DB_PASSWORD»" in secrets.redact(f"<{form}>")
    assert secrets.redact("true localhost 8080") == "true localhost 8080"
    assert secrets.hidden_count == 6


def test_base64_and_hex_are_known_through_line_ends_and_blanks(root: Path) -> None:
    (root / ".env").write_text(f"DB_PASSWORD={PASSWORD * 4}\n")
    secrets = family(root)
    data = b"x" * 50 + PASSWORD.encode() * 4 + b"y" * 50
    dump = "\n".join(data.hex(" ")[at : at + 48] for at in range(0, 600, 48))
    for form in (base64.encodebytes(data).decode(), data.hex(" "), data.hex(":", 1), dump):
        shown = secrets.redact(f"before\n{form}\nafter")
        assert shown.startswith("before\n")
        assert shown.endswith("\nafter")
        assert shown.count("«SECRET:DB_PASSWORD»") == 1
        assert len(shown) < len(form)


def test_values_are_known_as_programs_quote_them(root: Path) -> None:
    value = 'Zq9+x/7K"m&p%Lw3$Rt5\\yU2vB8'
    (root / ".env").write_text(f"API_KEY='{value}'\n")
    secrets = family(root)
    data = value.encode()
    for form in (
        repr(value), repr(data), html.escape(value), json.dumps(json.dumps(value)),
        "".join(f"%{one:02X}" for one in data), "".join(f"\\x{one:02x}" for one in data),
    ):  # fmt: skip
        shown = secrets.redact(f"<{form}>")
        assert "«SECRET:API_KEY»" in shown
        assert len(shown) < 30


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n    "])
def test_values_are_known_through_line_ends(root: Path, end: str) -> None:
    secrets = family(root)
    text = f"first{end}DB_PASSWORD={PASSWORD}{end}last"
    for at in range(1, len(PASSWORD)):
        cut = text.index(PASSWORD) + at
        for parted in (f"{text[:cut]}{end}{text[cut:]}", f"{text[:cut]}{end}{text[cut:]}{text}"):
            shown = secrets.redact(parted)
            assert shown.startswith(f"first{end}DB_PASSWORD=«SECRET:DB_PASSWORD»{end}last")
            assert PASSWORD[at:] not in shown


@pytest.mark.parametrize(
    "line",
    [
        f"\ufeffDB_PASSWORD={PASSWORD}", f"DB-PASSWORD={PASSWORD}", f"DB_PASSWORD: {PASSWORD}",
        f"set DB_PASSWORD={PASSWORD}", f"declare -x DB_PASSWORD='{PASSWORD}'",
        f"# DB_PASSWORD={PASSWORD}", f"DB_PASSWORD=`{PASSWORD}`", f"A=1 DB_PASSWORD={PASSWORD}",
        f'DB_PASSWORD="""{PASSWORD}"""', f"A=1\rDB_PASSWORD={PASSWORD}\r",
        f"DB_PASSWORD={PASSWORD}; export DB_PASSWORD",
        f'DB="Server=x;User Id=sa;Password={PASSWORD};"',
        f"DB='host=x user=me password={PASSWORD}'",
        f"DB=jdbc:mysql://x/y?user=me&password={PASSWORD}&ssl=1 # old",
    ],
)  # fmt: skip
def test_a_secret_is_found_however_it_is_set(line: str) -> None:
    assert PASSWORD in [value for _, value in secrets_in(line)]


def test_passwords_of_several_connections_have_names_of_their_own() -> None:
    one, other = f"1-{PASSWORD}", f"2-{PASSWORD}"
    lines = f'A="Server=x;User Id=me;Password={one};"\nB=Server=x;User Id=me;Password={other};'
    assert dict(secrets_in(lines)) == {"A_Password": one, "B_Password": other}


def test_a_file_of_another_encoding_and_a_private_key_are_read(root: Path) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----"
    (root / ".env").write_bytes(f"DB_PASSWORD={PASSWORD}\nSIGN={key}\n".encode("utf-16"))
    secrets = family(root)
    shown = "«SECRET:DB_PASSWORD» «SECRET:SIGN» -----BEGIN PRIVATE KEY-----"
    assert secrets.redact(f"{PASSWORD} {key} -----BEGIN PRIVATE KEY-----") == shown
    assert secrets.redact("line MIIEvQIBADANBgkqhkiG9w0B") == "line «SECRET:SIGN»"


def test_names_become_values_where_that_is_meant(root: Path) -> None:
    secrets = family(root, TOKEN_OF_OURS="abcd1234efgh")
    text = "«SECRET:DB_PASSWORD» «SECRET:TOKEN_OF_OURS» «SECRET:NOPE»"
    told = {"path": text, "content": text}
    assert secrets.unredact(tool_named("create_file"), told) == {
        "path": text, "content": f"{PASSWORD} «SECRET:TOKEN_OF_OURS» «SECRET:NOPE»"
    }  # fmt: skip
    assert secrets.unredact(tool_named("web_search"), {"query": text}) == {"query": text}
    assert secrets.redact("abcd1234efgh") == "«SECRET:TOKEN_OF_OURS»"


def test_what_is_set_twice_in_a_file_is_told_apart(root: Path) -> None:
    def write(*lines: str) -> None:
        """Write them, and write back what the model reads there."""
        env = "\n".join(lines)
        (root / ".env").write_text(env)
        secrets.refresh()
        shown = secrets.redact(env)
        assert not [one for one in (PASSWORD, old, new) if one in shown]
        assert secrets.unredact(tool_named("create_file"), {"content": shown})["content"] == env

    secrets, old, new = family(root), "an-older-password", "a-newer-password"
    write(f"# DB_PASSWORD={old}", f"DB_PASSWORD={PASSWORD}")
    assert secrets.redact(f"{PASSWORD} {old}") == "«SECRET:DB_PASSWORD» «SECRET:DB_PASSWORD.2»"
    write(f"DB_PASSWORD={old}", f"# DB_PASSWORD={PASSWORD}")  # each keeps its name
    write(f"DB_PASSWORD={old}", f"DB_PASSWORD={new}")
    assert secrets.value("«SECRET:DB_PASSWORD»") == new
    write(f"DB_PASSWORD={old}", f"DB_PASSWORD={PASSWORD}; export DB_PASSWORD")
    assert secrets.value("«SECRET:DB_PASSWORD»") == PASSWORD
    (root / ".env").write_text(f"A_KEY={old}\nA_KEY={new}\n# A_KEY={PASSWORD}")
    assert family(root).redact(f"{old} {new}") == "«SECRET:A_KEY.2» «SECRET:A_KEY»"


def test_what_was_saved_a_moment_ago_is_hidden_from_the_call_that_reads_it(root: Path) -> None:
    secrets = family(root)
    assert secrets.redact("brand-new-password-1") == "brand-new-password-1"
    (root / ".env.local").write_text("NEW_PASSWORD=brand-new-password-1\n")
    secrets.unredact(tool_named("read_file"), {"path": ".env.local"})
    assert secrets.redact("brand-new-password-1") == "«SECRET:NEW_PASSWORD»"


def test_hundreds_of_secrets_and_lines_of_blanks_hold_nothing_up(root: Path) -> None:
    lines = [f"API_KEY_{n}=value-{n}-of-many-{n * 7919}" for n in range(1_000)]
    (root / ".env").write_text("\n".join([*lines, "A=x" + " " * 100_000 + "y # end"]))
    secrets = family(root)
    assert secrets.redact(lines[777]) == "API_KEY_777=«SECRET:API_KEY_777»"
    assert secrets.partial_secret_length("so value-777-of-ma") == len("value-777-of-ma")
    assert secrets.partial_secret_length("so value-777-of-me") == 0


def test_four_times_the_secrets_that_begin_alike_are_four_times_the_work(root: Path) -> None:
    def work(number: int) -> int:
        """Return how many calls it takes to hide *number* secrets."""
        text = "\n".join(f"KEY_{n}=sk-proj-{n:05}xQ" for n in range(number))
        (root / ".env").write_text(text)
        calls: list[str] = []
        sys.setprofile(lambda _, event, __: calls.append(event))
        try:
            shown = family(root).redact(text)
        finally:
            sys.setprofile(None)
        assert shown.count("«SECRET:") == number
        return len(calls)

    assert work(400) < 5 * work(100)


@pytest.mark.parametrize("line", ["KEY=" + "a1B" * 60_000, "KEY= " + " " * 190_000 + "hunter22"])
def test_a_long_line_is_read(line: str) -> None:
    assert len(list(secrets_in(line))) == 1  # minutes, if it were quadratic


def test_a_link_hides_what_it_leads_to(root: Path) -> None:
    (root / ".env").rename(root / "settings.txt")
    (root / ".env").symlink_to("settings.txt")
    (root / ".env.local").symlink_to(root.parent / "elsewhere")
    secrets = family(root)
    assert "«SECRET:DB_PASSWORD»" in secrets.redact(PASSWORD)
    assert list(secrets.redacted_files()) == [root / "settings.txt"]


@pytest.mark.parametrize(
    ("old", "new", "asks"),
    [
        (".env", "notes.txt", True),
        ("a/.env", "b/.env.old", False),
        ("a.py", "b.py", False),
        (".env", "a/b/c/.env", True),
        (".env", "node_modules/.env", True),
        ("conf", "a/b/c/conf", True),
        ("conf", "config", False),
    ],
)
def test_a_file_of_secrets_loses_its_name_only_with_leave(
    root: Path, old: str, new: str, asks: bool
) -> None:
    (root / "conf").mkdir()
    (root / "conf/.env").write_text(ENV)
    concern = family(root).approval_reason(
        tool_named("rename_file"), {"path": old, "new_path": new}
    )
    assert (concern is not None) is asks


def test_names_are_stable_and_old_values_stay_hidden(root: Path) -> None:
    secrets = family(root)
    assert secrets.redact(PASSWORD) == "«SECRET:DB_PASSWORD»"
    (root / "app").mkdir()
    (root / "app/.env.local").write_text("DB_PASSWORD=another-one\n")
    (root / ".env").write_text("DB_PASSWORD=new-password\n")
    secrets.after_call("c1", 1)
    assert secrets.redact(f"{PASSWORD} new-password another-one") == (
        "«SECRET:DB_PASSWORD» «SECRET:DB_PASSWORD» «SECRET:DB_PASSWORD@app/.env.local»"
    )
    revealed = secrets.unredact(tool_named("run_python"), {"code": "«SECRET:DB_PASSWORD»"})
    assert revealed == {"code": "new-password"}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_hides_what_its_pieces_split(root: Path, size: int) -> None:
    stream = StreamRedactor(family(root))
    text = f"a{PASSWORD}{PASSWORD}hunter2-and hun{PASSWORD}h"
    pieces = [stream.add(text[at : at + size]) for at in range(0, len(text), size)]
    name = "«SECRET:DB_PASSWORD»"
    assert "".join([*pieces, stream.flush()]) == f"a{name}{name}hunter2-and hun{name}h"
    assert all("hunter2-and-m" not in piece for piece in pieces)


def test_every_text_of_a_card_is_changed_and_the_rest_kept() -> None:
    card = RunCard("bash", "x", "x", 0, phrase("{what} x", what="x"), 1.0, "A")
    done = map_strings(card, lambda text: text.replace("x", "y"))
    assert (done.output, str(done.why), done.exit_code) == ("y", "y y", 0)
    same = map_strings(card, lambda text: text)
    assert same is card


def test_it_can_be_switched_off_for_a_project(root: Path) -> None:
    secrets = family(root)
    secrets.switch("off")
    assert secrets.redact(PASSWORD) == PASSWORD
    assert list(secrets.context()) == []
    assert secrets.redacted_files() == {}
    secrets.switch("on")
    assert secrets.redact(PASSWORD) != PASSWORD


def run(root: Path, script: list[Step], *argv: str, **more: str) -> tuple[str, list[str], Path]:
    """Run a task; return its output, the bodies of the requests and the data folder."""
    data = root.parent / "data"
    with Simulator(script) as server:
        done = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), "-p", *(argv or ("go",)),
             "--output", "stream-json"],
            cwd=root, capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, "ONEFOLD_DATA_DIR": str(data), "DEEPSEEK_API_KEY": "sk-key-of-test",
                 "DEEPSEEK_BASE_URL": server.url, **more},
        )  # fmt: skip
        assert server.is_finished, done.stderr
        bodies = [json.dumps(request.body, ensure_ascii=False) for request in server.requests]
    return done.stdout + done.stderr, bodies, data


def test_no_request_no_screen_and_no_record_ever_holds_a_value(root: Path) -> None:
    (root / "big.txt").write_text(f"{'x' * 40}\n" * 2000 + PASSWORD + f"\n{'y' * 40}" * 2000)
    name = "«SECRET:DB_PASSWORD»"
    script: list[Step] = [
        Call("read_file", path=".env"),
        Call("search_text", pattern="hunter2"),
        Call("run_command", command="cat .env big.txt; sleep 0.1; printf %s hunter2-; sleep 0.1; "
             "echo and-more; env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' ' '"),
        Call("run_python", code=f"s = '{name}'\nprint(len(s), s); print(open('.env').read()[::-1])"
             f"\nopen('out.txt', 'w').write(s)\nraise ValueError(s)"),
        Call("run_python", code="import os\nprint(os.environ); open('.env').read()"),
        Call("modify_file", path=".env", operation="replace", old=f'"{name}"',
             new=f"'{name}-more'"),
        Call("create_file", path="config.py", content=f"P = '{name}'\n"),
        Call("read_file", path="config.py"),
        Say("done"),
    ]  # fmt: skip
    said, bodies, data = run(root, script, f"use {PASSWORD} and sk-key-of-test")
    for value in (PASSWORD, "p4ssw0rd-of-db", "AKIAIOSFODNN7EXAMPLE", "sk-key-of-test"):
        for form in (value, value[::-1]):
            assert all(form not in body for body in bodies)
            assert form not in said
    assert name in bodies[0]
    assert f"{len(PASSWORD)} {name}" in bodies[4]
    kept = b"".join(
        p.read_bytes() for p in data.rglob("*") if p.is_file() and "checkp" not in str(p)
    )
    assert PASSWORD.encode() not in kept
    assert (root / "out.txt").read_text() == PASSWORD
    assert f"DB_PASSWORD='{PASSWORD}-more'" in (root / ".env").read_text()
    assert (root / "config.py").read_text() == f"P = '{PASSWORD}-more'\n"


def test_what_looks_like_a_secret_in_the_environment_is_hidden_in_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        "DATABASE_URL": "postgres://app:correct-horse@db.example/shop",
        "MYSQL_PWD": "battery-staple",
        "PLAIN": "ghp_0123456789abcdefghij",
        "SSH_AUTH_SOCK": "/tmp/ssh-a1b2c3d4/agent.42",
        "PWD": "/home/somebody/a-project",
    }
    for name in os.environ.keys() - {"PATH", "HOME"}:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    known = Settings(deepseek_api_key="sk-of-ours-123456").hidden_values
    secrets = Secrets(tmp_path, known, tmp_path / "off")
    output = secrets.redact("\n".join([*given.values(), "sk-of-ours-123456"]))
    assert output.splitlines() == [
        "postgres://app:«SECRET:DATABASE_URL»@db.example/shop",
        "«SECRET:MYSQL_PWD»",
        "«SECRET:PLAIN»",
        given["SSH_AUTH_SOCK"],
        given["PWD"],
        "«SECRET:DEEPSEEK_API_KEY»",
    ]


def test_status_counts_and_commands_are_blind(root: Path) -> None:
    script: list[Step] = [Call("read_file", path=".env"), Say("ok")]
    run(root, script)
    said, _, _ = run(root, [], "/status", "--resume")
    assert "hidden" in said
    assert PASSWORD not in run(root, [], f"/search {PASSWORD}")[0]


def test_the_setting_switches_it_off(root: Path) -> None:
    script: list[Step] = [Call("read_file", path=".env"), Say("ok")]
    _, bodies, _ = run(root, script, ONEFOLD_HIDE_SECRETS="0")
    assert PASSWORD in bodies[1]


def test_a_word_of_ours_stays_that_whatever_a_file_calls_a_secret(tmp_path: Path) -> None:
    replies = [
        call_reply("create_file", path="a", content="not_found modified"),
        call_reply("modify_file", path="a", operation="append", new="!"),
        call_reply("read_file", path="none"),
        text_reply("ok"),
    ]
    with assembled_terminal(tmp_path, *replies) as made:
        (made.root / ".env").write_text("API_KEY=not_found\nDB_PASSWORD=modified\n")
        events: list[Event] = []
        drive(made.terminal.run_line("go"), events.append)
    ends = [event for event in events if isinstance(event, ToolFinished)]
    assert [change.kind for end in ends for change in end.changes] == ["created", "modified"]
    assert ends[-1].error_code == "not_found"
    card = ends[0].card
    assert isinstance(card, DiffCard)
    assert "not_found" not in card.diff
