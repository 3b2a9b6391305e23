"""The API on results: the files that a session handed over, their versions and previews."""

from __future__ import annotations

import shlex
import uuid
from contextlib import suppress
from typing import Annotated, Any

from core.cards import ResultKind
from core.conversation.messages import as_message
from core.feature import name_of
from core.redaction import map_strings
from core.tools import ToolError
from modules.results.feature import STATE, Results
from modules.results.records import Result
from modules.web.api.files_api import attachment
from modules.web.api.session_api import SessionApi
from modules.web.files.content import MAX_PATH_LENGTH
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.idempotency import CommandId
from modules.web.http.params import Bounds
from modules.web.http.routes import BinaryResponse, route
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from modules.web.sessions.session_runner import MAX_MESSAGE_LENGTH, SessionRunner
from utils.i18n import Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain
from utils.text.lines import parse_number

Json = dict[str, Any]
_ID = Annotated[str, "Of a result: its session and its number, as `ID.1`."]
_VERSION = Annotated[int, "A version's number; 0 for the file as it is now.", Bounds(0)]
_SESSION = Annotated[str, "Any session of the project."]
_PATH = Annotated[str, "Of the file.", Bounds(1, MAX_PATH_LENGTH)]
_CSP = "default-src 'none'; sandbox; frame-ancestors 'none'"
_RESULT = {
    "id": "Of the result.",
    "session": "The session that handed it over.",
    "number": "Its number there, from 1.",
    "path": "Of its file, where that is now.",
    "former_paths": "Where it was before, the newest first.",
    "kind": "report, slides, sheet, chart, page, data or code.",
    "title": "What it is.",
    "turn": "The turn that handed it over.",
    "is_by_person": "Whether the person declared it.",
    "facts": "What was found in it then.",
    "size": "Bytes; those at last where it is gone.",
    "modified": "When its file was last written, in seconds since the epoch.",
    "is_gone": "Whether its file is gone.",
}
_PREVIEW = {
    "pages": "How many pages can be had as pictures, at `/preview/1` and so on.",
    "alts": "What is on each page, in words.",
    "text": "The beginning of the text of what has none.",
    "why": "What cannot be shown, empty where all can.",
}


class ArtifactsApi:
    """Shows the results of sessions of *registry*; *sessions* has what is to be made again."""

    def __init__(
        self, registry: SessionRegistry, sessions: SessionApi, redactor: PageRedactor
    ) -> None:
        self._registry = registry
        self._sessions = sessions
        self._redactor = redactor

    @route(
        "GET",
        "/api/artifacts",
        "The results of the project, or of one session.",
        answer={
            "artifacts": "Each as one result is told, without its versions.",
            "held": "The sessions that another program has open: nothing can be done in them here.",
        },
    )
    def artifacts(
        self, session: Annotated[str, "Whose results; without it, of all sessions."] = ""
    ) -> Json:
        if session:
            told = self._told_of(session)
            return {"artifacts": told, "held": [session] if self._is_held(session) else []}
        with as_api_errors():
            sessions = self._registry.store.with_state(STATE)
        told, held = [], []
        for one in sessions:
            try:
                told += self._told_of(one)
                if self._is_held(one):
                    held.append(one)
            except ApiError as error:
                if error.code == "held":
                    held.append(one)
                elif error.code != "unknown_session":  # deleted meanwhile
                    raise
        return {"artifacts": told, "held": held}

    def _is_held(self, session: str) -> bool:
        terminal = self._registry.open(session).terminal
        return bool(terminal.locked_by) and terminal.store.holder(session) is not None

    def _told_of(self, session: str) -> list[Json]:
        runner, results = self._opened(session)
        with as_api_errors():
            return [_told(runner, results, one) for one in results.all()]

    @route(
        "POST",
        "/api/artifacts",
        "Declare a file of the project a result of a session.",
        status=201,
        answer=_RESULT,
    )
    def add(
        self,
        session: str,
        path: _PATH,
        kind: Annotated[ResultKind | None, "Without it, the usual one of its ending."] = None,
        title: Annotated[str, "Without it, the name of the file.", Bounds(0, 200)] = "",
    ) -> Json:
        runner, results = self._opened(session)
        words = ["add", path, *([kind, title] if kind else [])]
        self._run(runner, words)
        with as_api_errors():
            return _told(runner, results, _newest(results, path))

    @route(
        "GET",
        "/api/artifacts/{artifact}",
        "One result with its versions.",
        answer={
            **_RESULT,
            "versions": "The states of its file that checkpoints hold, the newest first: number, "
            "path, size, modified (seconds since the epoch).",
        },
    )
    def show(self, artifact: _ID) -> Json:
        runner, results, result = self._found(artifact)
        with as_api_errors():
            versions = [
                {
                    "number": version.snapshot,
                    "path": visible(version.path),
                    "size": version.size,
                    "modified": version.modified,
                }
                for version in results.versions(result)
            ]
            return {**_told(runner, results, result), "versions": versions}

    @route(
        "DELETE",
        "/api/artifacts/{artifact}",
        "Take a result off the list; its file stays.",
        status=204,
    )
    def remove(self, artifact: _ID) -> None:
        runner, _, result = self._found(artifact)
        self._run(runner, ["remove", str(result.number)])

    @route("GET", "/api/artifacts/{artifact}/download", "Download the file of a result.")
    def download(self, artifact: _ID, version: _VERSION = 0) -> BinaryResponse:
        _, results, result = self._found(artifact)
        self._redactor.refresh()
        with as_api_errors():
            data = self._redactor.redact_bytes(results.content(result, version))
        return attachment(visible(result.path.rpartition("/")[2]), data)

    @route(
        "GET",
        "/api/artifacts/{artifact}/preview",
        "What is to be seen of a result.",
        answer=_PREVIEW,
    )
    def preview(self, artifact: _ID) -> Json:
        _, results, result = self._found(artifact)
        return self._preview(results, result.path, result.title)

    @route("GET", "/api/artifacts/{artifact}/preview/{page}", "A page of a result as a picture.")
    def page(self, artifact: _ID, page: Annotated[str, "From 1."]) -> BinaryResponse:
        _, results, result = self._found(artifact, is_page=True)
        return _page(results, result.path, page)

    @route(
        "GET",
        "/api/files/preview",
        "What is to be seen of a document of the project.",
        answer=_PREVIEW,
    )
    def file_preview(self, session: _SESSION, path: _PATH) -> Json:
        _, results = self._opened(session)
        with as_api_errors():
            path = results.resolved(path)
        return self._preview(results, path, visible(path))

    @route("GET", "/api/files/preview/{page}", "A page of a document as a picture.")
    def file_page(
        self, session: _SESSION, path: _PATH, page: Annotated[str, "From 1."]
    ) -> BinaryResponse:
        _, results = self._opened(session, is_page=True)
        with as_api_errors():
            path = results.resolved(path)
        return _page(results, path, page)

    @route(
        "POST",
        "/api/artifacts/{artifact}/regenerate",
        "Ask the model to make a result again: a message in its session.",
        answer={"queued": "Whether it waits behind what runs.", "cmd": "The id of the message."},
    )
    def regenerate(
        self,
        artifact: _ID,
        text: Annotated[
            str, "What to say; without it, that it is to be made again.",
            Bounds(0, MAX_MESSAGE_LENGTH),
        ] = "",
        cmd: CommandId = "",
    ) -> Json:  # fmt: skip
        runner, _, result = self._found(artifact)
        said = f"Make “{result.title}” ({visible(result.path)}) again, and hand it over."
        command = cmd or uuid.uuid4().hex
        answer = self._sessions.send(runner.session, command, _as_words(text) or said)
        return {"queued": answer["queued"], "cmd": command}

    def _preview(self, results: Results, path: str, title: str) -> Json:
        self._redactor.refresh()
        with as_api_errors():
            preview = results.look_of(path, title)
        shown: Json = map_strings(to_plain(preview), self._redactor.redact)
        return shown

    def _opened(self, session: str, *, is_page: bool = False) -> tuple[SessionRunner, Results]:
        """Return what has *session*, as it is now; for one page of many, as it last was told.

        One that another process had stays as free as it is: to look is not to take over.
        """
        runner = self._registry.open(session)
        runner.refresh_external(is_forced=not is_page, takes_over=False)
        if (results := runner.terminal.features.find(Results)) is None:
            raise _not_found()
        return runner, results

    def _found(
        self, artifact: str, *, is_page: bool = False
    ) -> tuple[SessionRunner, Results, Result]:
        session, _, word = artifact.rpartition(".")
        number = parse_number(word)
        if not session or number is None:
            raise _not_found()
        runner, results = self._opened(session, is_page=is_page)
        with as_api_errors(), suppress(StopIteration):
            return runner, results, next(one for one in results.all() if one.number == number)
        raise _not_found()

    def _run(self, runner: SessionRunner, words: list[str]) -> None:
        """Run `/results` with *words*, as the person. Raises `ApiError` that says why not."""
        runner.refresh_external(is_forced=True)
        if runner.terminal.locked_by:
            raise ApiError("held", runner.terminal.locked_by)
        answer = runner.run_command(f"{name_of(Results.results)} {shlex.join(words)}")
        if not answer["done"]:
            raise ApiError("failed", from_plain(Text, answer["card"]["title"]))


def _page(results: Results, path: str, page: str) -> BinaryResponse:
    with as_api_errors():
        media_type, data = results.page_of(path, parse_number(page) or 0)
    headers = {"Content-Disposition": "inline", "Content-Security-Policy": _CSP}
    return BinaryResponse(data, {"Content-Type": media_type, **headers})


def _told(runner: SessionRunner, results: Results, result: Result) -> Json:
    plain: Json = map_strings(to_plain(result), runner.terminal.redact)
    file = plain.pop("file") or {"modified": 0}
    return {
        **plain,
        "id": f"{runner.session}.{result.number}",
        "session": runner.session,
        "size": results.size_of(result),
        "modified": file["modified"] / 1e9,
        "is_gone": results.is_gone(result),
    }


def _newest(results: Results, path: str) -> Result:
    """Return the result that the file *path* has just become."""
    with suppress(ToolError):
        path = results.resolved(path)
    found = [one for one in results.all() if one.path == path]
    if not found:  # somebody took it off the list meanwhile
        raise _not_found()
    return found[0]


def _as_words(text: str) -> str:
    """Return *text* as something said to the model, whatever it begins with."""
    text = as_message(text.strip())
    return f" {text}" if text.startswith("/") else text


def _not_found() -> ApiError:
    return ApiError("not_found", phrase("There is no such result."))
