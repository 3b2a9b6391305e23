"""The prompt of a terminal that joined a running server: it gives way when something happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlencode

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory

from core.commands import Commands
from core.feature import Command, CommandSpec, name_of
from modules.cli.attach.http import Packet, ServerLink
from modules.cli.input.keyboard import TypedAhead
from modules.cli.input.line_completion import LineCompleter
from modules.cli.input.prompt import Prompt
from modules.cli.input.status_line import status_line
from modules.cli.screen_settings import ScreenSettings
from modules.translator import Translator
from utils.i18n import Phrase, Text, UserError
from utils.text.clean import clean
from utils.text.codec import from_plain


class AttachedPrompt(Prompt):
    """The line to type in; `draft` is what stands in it when it comes back.

    *state* returns the newest state that the server sent of the session.
    """

    def __init__(
        self,
        link: ServerLink,
        translator: Translator,
        typed_ahead: TypedAhead,
        state: Callable[[], Packet],
        *,
        settings: ScreenSettings | None = None,
    ) -> None:
        commands = {
            declared["name"]: _command(declared, link, state)
            for declared in link.request("GET", "/api/commands")["commands"]
        }
        project = link.request("GET", "/api/status")["project"]
        super().__init__(
            translator,
            LineCompleter(
                commands, lambda: link.request("GET", "/api/files/list")["files"], translator
            ),
            lambda: _status_line_of(state(), project, translator),
            InMemoryHistory(),
            typed_ahead=typed_ahead,
            next_mode=lambda: self._go_round(link, state()["session"]),
            settings=settings or ScreenSettings(),
        )
        self.draft = ""
        self._was_interrupted = False

    def _go_round(self, link: ServerLink, session: str) -> None:
        try:
            line = f"{name_of(Commands.approve)} next"
            link.request("POST", f"/api/sessions/{session}/command", line=line)
        except UserError as problem:
            self.tell(problem.message)

    def read_until(self, is_wanted_elsewhere: Callable[[], bool]) -> str | None:
        """Return the line; "" when interrupted, None when the person leaves."""

        def interrupt_if_wanted() -> None:
            if is_wanted_elsewhere():
                self.interrupt()

        self._was_interrupted = self._session.app.erase_when_done = False
        text = self._read(self.draft, interrupt_if_wanted)
        if not self._was_interrupted:
            self.draft = ""
        return text

    def tell(self, what: Phrase) -> bool:
        """Print *what* above the line that is being typed; return whether there is one."""
        return self.show_above(f"  {clean(self._translator.render(what))}")

    def interrupt(self) -> None:
        """Make `read_until` return; from any thread."""
        app = self._session.app
        loop = app.loop
        if loop is None or not app.is_running:
            return

        def leave() -> None:
            if app.is_running and app.future and not app.future.done():
                self.draft = self._session.default_buffer.text
                self._was_interrupted = app.erase_when_done = True
                app.exit(result="")

        with suppress(RuntimeError):  # the line is just done
            loop.call_soon_threadsafe(leave)


def _command(declared: Packet, link: ServerLink, state: Callable[[], Packet]) -> Command:
    """Return a command of the server, for completion only."""

    def completes(words: Sequence[str]) -> Sequence[str]:
        query = urlencode({"line": " ".join([declared["name"], *words, ""])})
        path = f"/api/sessions/{state()['session']}/completions?{query}"
        found: list[str] = link.request("GET", path)["words"]
        return found

    return Command(
        CommandSpec(declared["usage"], ""),
        str,
        from_plain(Phrase, declared["help"]),
        completes=completes if declared["completed"] else None,
    )


def _status_line_of(state: Packet, project: str, translator: Translator) -> StyleAndTextTuples:
    context = state["context"]
    return status_line(
        translator,
        model=state["model"],
        is_practice=state["practice"],
        mode=state["mode"],
        project=project,
        approval=state["approval"],
        context=(context["used"], context["limit"]),
        cost=state["usage"]["cost_usd"],
        jobs=_jobs(state),
        depth=state.get("depth") or None,
    )


def _jobs(state: Packet) -> Text:
    """Return what runs in the background, "" for nothing."""
    if not (running := [job["job"] for job in state.get("background", ()) if job["running"]]):
        return ""
    from modules.jobs.job_text import count_for_person

    return count_for_person(running)
