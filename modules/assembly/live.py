"""What a setting that was just saved changes in what runs: terminals and their features.

What is not named here holds for new sessions of the page, or from the next start on.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

from config import Settings
from modules.assembly.parts import checkpoint_limits_of, limits_of
from modules.checkpoints.undo.undo_commands import UndoCommands
from modules.checks.feature import Checks
from modules.depth.feature import TaskDepth
from modules.mcp_client.feature import McpServers
from modules.secrets.redactor import Secrets
from modules.settings.live import LiveSettings
from modules.spending.feature import Spending
from modules.terminal_ops import TerminalOps

if TYPE_CHECKING:
    from core.main_terminal import MainTerminal

SERVER_SETTINGS = (
    *("deepseek_api_key", "deepseek_base_url", "anthropic_api_key", "anthropic_base_url"),
    *("openai_api_key", "openai_base_url", "providers"),
    *("max_tokens", "effort", "idle_seconds", "retries"),
)
"""What the clients of the models are made with."""
_AT_START = frozenset(
    {
        *("data_dir", "sources", "models", "prices", "protocol", "encoding"),
        *(
            "lang",
            "theme",
            "web_terminal",
            "plain",
            "trace",
            "trace_content",
            "keys",
            "shortcuts",
            "notify",
            "notify_seconds",
        ),
        *("title", "context_limit"),
    }
)
"""What is read when the program starts, and not for each session of the page."""


def _take_step_limit(terminal: MainTerminal, settings: Settings) -> None:
    terminal.step_limit = settings.step_limit


def _take_budget(terminal: MainTerminal, settings: Settings) -> None:
    terminal.budget_usd = settings.budget_usd


def _take_task_budget(terminal: MainTerminal, settings: Settings) -> None:
    if spending := terminal.features.find(Spending):
        spending.limit_task(settings.task_budget)


def _take_daily_budget(terminal: MainTerminal, settings: Settings) -> None:
    if spending := terminal.features.find(Spending):
        spending.limit_day(settings.daily_budget)


def _take_hours(terminal: MainTerminal, settings: Settings) -> None:
    if spending := terminal.features.find(Spending):
        spending.run_at(settings.when)


def _take_checks(terminal: MainTerminal, settings: Settings) -> None:
    if checks := terminal.features.find(Checks):
        is_on = settings.verify != "false"
        checks.set_up(is_on=is_on, said=settings.checks, seconds=settings.checks_seconds)


def _take_limits(terminal: MainTerminal, settings: Settings) -> None:
    if terminal_ops := terminal.features.find(TerminalOps):
        terminal_ops.limit_runs(limits_of(settings))


def _take_hosts(terminal: MainTerminal, settings: Settings) -> None:
    if terminal_ops := terminal.features.find(TerminalOps):
        terminal_ops.allow_hosts(settings.network_hosts)
    if servers := terminal.features.find(McpServers):
        servers.network_hosts = settings.network_hosts


def _take_secrets(terminal: MainTerminal, settings: Settings) -> None:
    if secrets := terminal.features.find(Secrets):
        secrets.enable(settings.hide_secrets)


def _take_checkpoints(terminal: MainTerminal, settings: Settings) -> None:
    if undo := terminal.features.find(UndoCommands):
        undo.limit(**checkpoint_limits_of(settings))


_EVERYWHERE: Mapping[str, Callable[[MainTerminal, Settings], None]] = {
    "step_limit": _take_step_limit,
    "budget_usd": _take_budget,
    "task_budget": _take_task_budget,
    "daily_budget": _take_daily_budget,
    "when": _take_hours,
    **dict.fromkeys(("verify", "checks", "checks_seconds"), _take_checks),
    **dict.fromkeys(("memory_mb", "processes", "disk_mb", "tmp_mb", "output_mb"), _take_limits),
    "network_hosts": _take_hosts,
    "hide_secrets": _take_secrets,
    **dict.fromkeys(
        ("checkpoint_file_mb", "checkpoint_total_mb", "checkpoint_days"), _take_checkpoints
    ),
}
"""What reaches every session at once, also in the midst of a task."""


def _take_model(terminal: MainTerminal, settings: Settings) -> None:
    terminal.model.model = settings.model


def _take_mode(terminal: MainTerminal, settings: Settings) -> None:
    terminal.mode = settings.mode


def _take_approval(terminal: MainTerminal, settings: Settings) -> None:
    terminal.approval.mode = settings.approve


def _take_depth(terminal: MainTerminal, settings: Settings) -> None:
    if depth := terminal.features.find(TaskDepth):
        depth.take_default(None if settings.depth == "auto" else settings.depth)


_OF_A_SESSION: Mapping[str, Callable[[MainTerminal, Settings], None]] = {
    "model": _take_model,
    "mode": _take_mode,
    "approve": _take_approval,
    "depth": _take_depth,
}
"""What each session has of its own, and was begun with."""
IN_NEW_SESSIONS = frozenset(field.name for field in fields(Settings)) - {
    *_AT_START,
    *_EVERYWHERE,
    *SERVER_SETTINGS,
}
"""What is read anew for each session of the page."""


def follow_in_terminal(live: LiveSettings[Settings], terminal: MainTerminal) -> None:
    """Have *terminal*, the only one, take over what is saved; it is what the person works in."""
    for name, take in {**_EVERYWHERE, **_OF_A_SESSION}.items():
        live.follow((name,), lambda settings, _, take=take: take(terminal, settings))  # type: ignore[misc]


class FollowingTerminals:
    """The terminals of a server, as long as each lives: they take over what is saved."""

    def __init__(self, live: LiveSettings[Settings]) -> None:
        self._terminals: list[weakref.ref[MainTerminal]] = []
        live.follow(_EVERYWHERE, self._tell_all)
        live.follow(_OF_A_SESSION, self._tell_unused)

    def add(self, terminal: MainTerminal) -> None:
        self._terminals = [one for one in self._terminals if one() is not None]
        self._terminals.append(weakref.ref(terminal))

    def for_each(self, act: Callable[[MainTerminal], None]) -> None:
        """Do *act* with every terminal that lives."""
        for reference in list(self._terminals):
            if (terminal := reference()) is not None:
                act(terminal)

    def _tell_all(self, settings: Settings, name: str) -> None:
        self.for_each(partial(_apply, _EVERYWHERE[name], settings))

    def _tell_unused(self, settings: Settings, name: str) -> None:
        """Change what a session was begun with where nothing was said in it yet."""

        def tell(terminal: MainTerminal) -> None:
            if not (terminal.history.turn or terminal.is_in_turn):
                _OF_A_SESSION[name](terminal, settings)
                terminal.refresh()

        self.for_each(tell)


def _apply(
    take: Callable[[MainTerminal, Settings], None], settings: Settings, terminal: MainTerminal
) -> None:
    take(terminal, settings)


def hide_keys(terminal: MainTerminal, settings: Settings) -> None:
    """Have *terminal* hide the keys that *settings* have now."""
    if secrets := terminal.features.find(Secrets):
        for name, value in settings.secrets.items():
            secrets.hide(name, value)
