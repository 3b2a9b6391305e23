"""Settings that take effect when they are saved, and those that say when they will."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from config import DEEPSEEK, Settings, load, parse_setting
from core.cards import TextCard
from core.events import CommandAnswered
from modules.assembly.live import IN_NEW_SESSIONS, FollowingTerminals, follow_in_terminal
from modules.assembly.model import client_of, renew_servers, server_of
from modules.assembly.served_model import ServedModel
from modules.assembly.terminal import follow_on_screen, try_notify
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.cli.args import Args, parse
from modules.cli.render.cards.plain_cards import card_text
from modules.cli.screen_settings import ScreenSettings
from modules.mcp_client.feature import McpServers
from modules.settings.feature import SettingsCommand
from modules.settings.live import LiveSettings
from modules.terminal_ops import TerminalOps
from modules.translator import Translator
from tests.assembly import assembled_terminal
from tests.simulator import Say, Simulator
from utils.i18n import UserError
from utils.waiting import Stop


def live_in(folder: Path, in_new_sessions: frozenset[str] = frozenset()) -> LiveSettings[Settings]:
    environment = {"ONEFOLD_DATA_DIR": str(folder), "ONEFOLD_DEPTH": "deep"}

    def load_again() -> Settings:
        return load(environment=environment, dotenv=folder / ".env")

    return LiveSettings(load_again(), load_again, in_new_sessions)


def said(command: SettingsCommand, argument: str) -> str:
    card = command.settings(argument)
    assert isinstance(card, TextCard)
    return f"{card.title} {card.body}"


def shown(answer: CommandAnswered) -> str:
    assert answer.card
    return card_text(answer.card, Translator.of("en"))


def test_the_terminal_takes_over_what_is_saved(tmp_path: Path) -> None:
    live = live_in(tmp_path)
    command = SettingsCommand(live, parse_setting)
    with assembled_terminal(tmp_path) as assembled:
        terminal = assembled.terminal
        follow_in_terminal(live, terminal)

        def told(line: str) -> str:
            return shown(terminal.run_concurrently(line))

        assert said(command, "step_limit 7") == "step_limit = 7 In effect now."
        assert terminal.step_limit == 7
        said(command, "approve read-only")
        assert terminal.approval.mode == "read-only"
        said(command, "task_budget 0.5")
        assert "$0.5\n" in told("/budget")
        said(command, "checks make lint")
        check = terminal.perform("/check", lambda: terminal.commands["/check"].run("list"))
        assert "make lint" in shown(check)
        said(command, "memory_mb 333")
        assert "333" in told("/status")
        said(command, "reset step_limit")
        assert terminal.step_limit == 100
        assert "ONEFOLD_DEPTH in the environment overrides" in said(command, "depth brief")
        assert live.now.depth == "deep"
        assert "after a restart" in said(command, "encoding gbk")
        assert live.now.encoding == ""


def test_hosts_secrets_and_checkpoints_hold_at_once(tmp_path: Path) -> None:
    live = live_in(tmp_path)
    command = SettingsCommand(live, parse_setting)
    with assembled_terminal(tmp_path) as assembled:
        terminal, root = assembled.terminal, assembled.root
        follow_in_terminal(live, terminal)
        features = terminal.features
        (root / ".env").write_text("DB_PASSWORD=tiger-in-a-tank\n")
        assert "tiger" not in terminal.redact("is it tiger-in-a-tank?")
        assert "In effect now." in said(command, "hide_secrets false")
        assert "tiger" in terminal.redact("is it tiger-in-a-tank?")
        said(command, "hide_secrets true")
        assert "tiger" not in terminal.redact("is it tiger-in-a-tank?")

        terminal_ops, servers = features.find(TerminalOps), features.find(McpServers)
        assert terminal_ops
        assert servers
        assert "files.example.org" not in terminal_ops._network().hosts
        assert "In effect now." in said(command, "network_hosts files.example.org")
        assert "files.example.org" in terminal_ops._network().hosts
        assert servers.network_hosts == ("files.example.org",)

        undo = features.find(UndoCommands)
        assert undo
        (root / "big.bin").write_bytes(bytes(1_500_000))
        assert undo._checkpoints.take().not_stored == ()
        assert "In effect now." in said(command, "checkpoint_file_mb 1")
        (root / "big.bin").write_bytes(b"1" * 1_500_000)
        assert undo._checkpoints.take().not_stored == (("big.bin", "large"),)


def test_the_terminal_tries_out_how_it_notifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM_PROGRAM", "WezTerm")
    monkeypatch.delenv("TMUX", raising=False)
    live, screen = live_in(tmp_path), ScreenSettings()
    command = SettingsCommand(live, parse_setting)
    with pytest.raises(UserError, match="in the terminal that notifies you"):
        command.settings("test notify")
    command.try_notify = partial(try_notify, screen)
    follow_on_screen(live, screen, Translator.of("en"), "demo")
    assert "Set it first" in said(command, "test notify")
    for how, sent in (("bell", "\a"), ("desktop", "\x1b]9;demo: a test\a")):
        said(command, f"notify {how}")
        capsys.readouterr()
        assert said(command, "test notify")
        assert capsys.readouterr().out == sent


def test_sessions_of_a_page_keep_what_they_were_begun_with(tmp_path: Path) -> None:
    live = live_in(tmp_path, IN_NEW_SESSIONS)
    terminals = FollowingTerminals(live)
    command = SettingsCommand(live, parse_setting)
    with assembled_terminal(tmp_path) as assembled:
        terminal = assembled.terminal
        terminals.add(terminal)
        assert "in new sessions" in said(command, "approve ask")
        assert terminal.approval.mode == "ask"  # nothing was said in it yet
        terminal.begin_turn("/undo")
        said(command, "approve all")
        said(command, "step_limit 9")
        assert (terminal.approval.mode, terminal.step_limit) == ("ask", 9)
        assert live.now.approve == "all"


def test_a_new_key_and_address_are_used_from_the_next_request_on(tmp_path: Path) -> None:
    live = live_in(tmp_path)
    command = SettingsCommand(live, parse_setting)
    with Simulator([Say("first")]) as first, Simulator([Say("second")]) as second:
        command.kept.keep("deepseek_base_url", first.url)
        command.kept.keep("deepseek_api_key", "sk-first-key")
        kept = load(environment={"ONEFOLD_DATA_DIR": str(tmp_path)}, dotenv=tmp_path / ".env")
        client = client_of(server_of(kept), kept)
        live.follow(
            ("deepseek_base_url", "deepseek_api_key"),
            lambda settings, name: renew_servers(client, settings, name),
        )

        def ask() -> None:
            question = {"role": "user", "content": "hi"}
            list(client.stream([question], [], think=False, stop=Stop()))

        ask()
        command.kept.keep("deepseek_base_url", second.url)
        command.kept.keep("deepseek_api_key", "sk-second-key")
        ask()
        assert [len(first.requests), len(second.requests)] == [1, 1]
        assert second.requests[0].headers["authorization"] == "Bearer sk-second-key"
        client.close()


def test_a_key_of_the_service_goes_to_no_address_on_this_computer(tmp_path: Path) -> None:
    issued = f"sk-{'0a1b2c3d' * 4}"
    live = live_in(tmp_path)
    kept = SettingsCommand(live, parse_setting).kept
    with Simulator([Say("hi")] * 4) as local:
        for key, sent in ((issued, "none"), ("sk-of-a-proxy", "sk-of-a-proxy")):
            local.requests.clear()
            kept.keep("deepseek_api_key", key)
            kept.keep("deepseek_base_url", local.url)
            assert "answered" in str(kept.test("deepseek_base_url"))
            client = client_of(server_of(live_in(tmp_path).now), live_in(tmp_path).now)
            question = {"role": "user", "content": "hi"}
            list(client.stream([question], [], think=False, stop=Stop()))
            client.close()
            told = {request.headers["authorization"] for request in local.requests}
            assert (len(local.requests), told) == (2, {f"Bearer {sent}"})
    kept.keep("deepseek_api_key", issued)
    kept.keep("deepseek_base_url", "https://gateway.example.org/deepseek")
    assert live_in(tmp_path).now.usual_key == issued  # which passes it on


def test_a_server_of_this_computer_is_told_no_key_of_another(tmp_path: Path) -> None:
    live = live_in(tmp_path)
    kept = SettingsCommand(live, parse_setting).kept
    kept.keep("deepseek_api_key", "sk-of-deepseek")
    options = parse(["--web"], Translator.of("en"), version=str)
    assert isinstance(options, Args)
    with Simulator([Say("hi"), Say("tested")]) as local, ExitStack() as stack:
        terminals = FollowingTerminals(live)
        served = ServedModel(options, live, Translator.of("en"), stack, terminals)
        stack.callback(served.client.close)
        kept.use_server("LM Studio", local.url, "deepseek-flash")
        session = served.for_session()
        stack.callback(session.close)
        question = {"role": "user", "content": "hi"}
        list(session.stream([question], [], think=False, stop=Stop()))
        assert "answered" in str(kept.test("model"))
        for request in local.requests:
            assert request.body["model"] == "deepseek-flash"
            assert request.headers["authorization"] == "Bearer none"
        assert len(local.requests) == 2
    again = live_in(tmp_path).now
    assert (again.model, again.deepseek_api_key) == ("lm-studio/deepseek-flash", "sk-of-deepseek")
    assert again.deepseek_base_url == DEEPSEEK
    kept.use_server("LM Studio", local.url, "other")
    kept.use_server("LM Studio", "http://127.0.0.1:9/v1", "x")
    names = [provider.name for provider in live_in(tmp_path).now.all_providers]
    assert names == ["anthropic", "openai", "lm-studio", "lm-studio-2"]
