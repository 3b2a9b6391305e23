"""What can go wrong between us and the model's server, told to people in one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from utils.i18n import Phrase, phrase
from utils.llm.account import DEEPSEEK_ACCOUNT, Account
from utils.llm.completion import ErrorKind, ModelError
from utils.llm.error_bodies import STATUS_OF_KIND, message_in, message_of, status_in
from utils.llm.refusals import Refusal
from utils.llm.reply_limits import Measure, ReplyLimits
from utils.llm.retry_after import seconds_asked
from utils.text.keys import without

Again = Literal["never", "unreachable", "reply", "server", "loading"]
"""Whether asking again may help, and which patience it draws on."""

_DAY_SECONDS = 86_400.0
"""Whoever asks for a longer pause than a day is not asked again."""
_MOST_DAYS = 9_999
_LONGEST_SENTENCE = 300
_NO_MODEL = re.compile(r"supported API model names|[Mm]odel.*(not exist|not found)|^model: ")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_PASSING_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_TOO_LONG = re.compile(
    r"maximum context length|exceeds? .{0,30}context|context.{0,30}exceed|prompt is too long"
    r"|larger than .{0,20}context|too many input tokens|context_length_exceeded"
    r"|input (tokens?|is|length).{0,20}(too long|exceed)|input token count|longer than the m"
    r"|maximum prompt length|reduce the length of the messages|context the overflows"
    r"|prompt exceeds max|exceeded model token limit|reached context length|too many tokens"
    r"|range of input length|tokens_limit_reached|decoder prompt",
    re.IGNORECASE,
)
_NO_PATH = r"^.{0,20}(page |route |resource |path |file |url )?not found\W*$|method not allowed"
_NO_PATH += r"|unexpected endpoint|(cannot|invalid|unknown) .{0,10}(post|url|path|route)|no route"
"""What says that there is nothing at an address, rather than no such model."""


class Failed(Exception):
    """One try that brought no usable reply; *error* is what to raise if it was the last.

    *after* is how many seconds the server asked us to wait, None if it did not say; *refusal* is
    what it answered where it did not take the request.
    """

    refusal: Refusal | None = None
    is_elsewhere = False
    """Whether there is nothing at the address that was asked."""

    def __init__(
        self, kind: ErrorKind, what: Phrase, again: Again = "never", *, after: float | None = None
    ) -> None:
        super().__init__(str(what))
        self.error = ModelError(kind, what)
        self.again = again
        self.after = after


class ErrorInStream(Exception):
    """The server sent *error* instead of the rest of the reply."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


class Server:
    """The model's server as people know it, to tell its failures in its name.

    *account* says where its settings are mended. The key appears in no sentence but for its last
    four characters.
    """

    def __init__(self, host: str, key: str, account: Account = DEEPSEEK_ACCOUNT) -> None:
        self._host = host
        self._key = key
        self._account = account

    def refused(self, status: int, body: str, headers: Mapping[str, str], *, model: str) -> Failed:
        """Return what the HTTP answer *status* means."""
        message, _ = message_of(body)
        known = self._known(message, model)
        failed = known or self._refused(status, message, headers)
        if failed.error.kind in ("request", "server", "context") and (
            known is None or known.error.kind == "context"
        ):
            failed.refusal = Refusal.of(status, body)
        return failed

    def _refused(self, status: int, message: str, headers: Mapping[str, str]) -> Failed:
        match status:
            case 401 | 403:
                return self._bad_key(status, message)
            case 402:
                return self._no_balance()
            case 413:
                return _too_long()
        if status in _PASSING_STATUSES:
            return self._busy(status, message, seconds_asked(headers, message))
        if status < 400 or (status in (404, 405) and not message):
            return self.no_api(status)
        if status in (404, 405) and re.search(_NO_PATH, message, re.IGNORECASE):
            return self.no_api(status)
        what = phrase(
            "{host} did not accept the request (HTTP {status}): {message}",
            host=self._host,
            status=status,
            message=self._clean(message),
        )
        return Failed("request", what)

    def no_api(self, status: int) -> Failed:
        what = phrase(
            "{host} answers, but there is no {api} API (HTTP {status}). Check {setting}.",
            host=self._host,
            api=self._account.api,
            setting=self._account.url_name,
            status=status,
        )
        failed = Failed("request", what)
        failed.is_elsewhere = True
        return failed

    def broke_in(self, error: Any, *, model: str) -> Failed:
        """Return what an `error` object in the midst of a stream means."""
        message, kind = message_in({"error": error})
        status = status_in(error, kind)
        if known := self._known(message, model):
            failed = known
        elif kind in STATUS_OF_KIND:
            failed = self._refused(status, message, {})
        elif "authentication" in kind or status == 401:
            return self._bad_key(401, message)
        elif status in (400, 422):
            what = phrase(
                "{host} broke the reply off: {message}",
                host=self._host,
                message=self._clean(message),
            )
            failed = Failed("request", what)
        else:
            failed = self._busy(None, message, seconds_asked({}, message))
        if failed.error.kind in ("request", "server", "context"):
            failed.refusal = Refusal.of(status, message)
        return failed

    def unreachable(self, reason: str) -> Failed:
        what = phrase(
            "{host} cannot be reached ({reason}). Check the network, or {setting}.",
            host=self._host,
            setting=self._account.url_name,
            reason=self._clean(reason),
        )
        return Failed("network", what, "unreachable")

    def insecure(self, reason: str) -> Failed:
        host, told = self._host, self._clean(reason)
        if "certificate" in reason:
            what = phrase(
                "There is no secure connection to {host}: {reason}. If the server is your own, set "
                "SSL_CERT_FILE to the file of its certificate, or of who signed it.",
                host=host,
                reason=told,
            )
        elif re.search(r"wrong.version.number|http.request|record.layer", reason, re.IGNORECASE):
            what = phrase(
                "There is no secure connection to {host}: {reason}. Perhaps it speaks http:// "
                "there, without encryption; check {setting}.",
                host=host,
                reason=told,
                setting=self._account.url_name,
            )
        else:
            what = phrase(
                "There is no secure connection to {host}: {reason}", host=host, reason=told
            )
        return Failed("network", what)

    def went_away(self) -> Failed:
        what = phrase("The connection to {host} broke.", host=self._host)
        return Failed("network", what, "server")

    def kept_silent(self, seconds: float) -> Failed:
        what = phrase(
            "{host} sent nothing for {seconds} seconds.", host=self._host, seconds=round(seconds)
        )
        return Failed("network", what, "server")

    def went_beyond(self, measure: Measure, limits: ReplyLimits) -> Failed:
        """Return what it means that a reply was broken off for taking too much."""
        host = self._host
        match measure:
            case "size":
                what = phrase("{host} sent far more than a reply can have, without end.", host=host)
            case "progress":
                what = phrase(
                    "The reply of {host} got no further for {seconds} seconds, so it was given up.",
                    host=host,
                    seconds=round(limits.progress_seconds),
                )
            case "seconds":
                what = phrase(
                    "The reply of {host} did not end in {hours} hours, so it was given up.",
                    host=host,
                    hours=round(limits.seconds / 3600),
                )
        return Failed("network", what)

    def _known(self, message: str, model: str) -> Failed | None:
        """Return the failure that *message* names, whatever its status and type are."""
        if _TOO_LONG.search(message):
            return _too_long()
        if "Content Exists Risk" in message:
            return _censored()
        if re.search(r"Insufficient Balance|credit balance is too low", message):
            return self._no_balance()
        if _NO_MODEL.search(message):
            what = phrase(
                "{host} does not serve the model {model}: {message}",
                host=self._host,
                model=model,
                message=self._clean(message),
            )
            return Failed("request", what)
        if re.search(r"not support tools|tools param requires|support tool use", message):
            what = phrase(
                "{host} does not let {model} call tools, which Onefold needs: {message} "
                "Choose another model.",
                host=self._host,
                model=model,
                message=self._clean(message),
            )
            return Failed("request", what)
        return None

    def _bad_key(self, status: int, message: str) -> Failed:
        if not self._key:
            what = phrase(
                "{host} wants an API key. Set {setting}; there is one at {page}",
                host=self._host,
                setting=self._account.key_name,
                page=self._account.key_page,
            )
        elif status == 403:
            what = phrase(
                "{host} forbids this: {message}", host=self._host, message=self._clean(message)
            )
        else:
            what = phrase(
                "{host} does not accept the API key {key}. Check {setting}; "
                "a new one is to be had at {page}",
                host=self._host,
                key="…" + self._key[-4:] if len(self._key) > 8 else "…",
                setting=self._account.key_name,
                page=self._account.key_page,
            )
        return Failed("key", what)

    def _no_balance(self) -> Failed:
        what = phrase(
            "The balance at {host} is used up. Top it up at {page}",
            host=self._host,
            page=self._account.balance_page,
        )
        return Failed("balance", what)

    def _busy(self, status: int | None, message: str, after: float | None) -> Failed:
        if after is not None and after > _DAY_SECONDS:
            what = phrase(
                "{host} wants a pause of {days} days before the next try, which is too long to "
                "wait for: {message}",
                host=self._host,
                days=round(min(after / _DAY_SECONDS, _MOST_DAYS)),
                message=self._clean(message) or f"HTTP {status}",
            )
            return Failed("server", what)
        if status == 429:
            what = phrase(
                "{host} has too many requests at once: {message}",
                host=self._host,
                message=self._clean(message),
            )
        else:
            what = phrase(
                "{host} is in trouble: {message}",
                host=self._host,
                message=self._clean(message) or f"HTTP {status}",
            )
        is_loading = status == 503 and re.search(r"\bload", message, re.IGNORECASE)
        return Failed("server", what, "loading" if is_loading else "server", after=after)

    def _clean(self, text: str) -> str:
        """Return *text* fit to be shown: one line, not long, no control characters, no key."""
        text = " ".join(_CONTROL.sub(" ", without(self._key, text)).split())
        return text if len(text) <= _LONGEST_SENTENCE else f"{text[:_LONGEST_SENTENCE]}…"


def _too_long() -> Failed:
    what = phrase("The conversation no longer fits the model. Shorten it with /compact, or /new.")
    return Failed("context", what)


def window_too_small(window: int) -> Phrase:
    """Return what to say of a window that not even a first request fits in."""
    if not window:
        return phrase(
            "The model's window is too small for Onefold's instructions and tools. Start its "
            "server with a larger one, or choose another model with /model."
        )
    return phrase(
        "The model's window of {window} tokens is too small for Onefold's instructions and tools. "
        "Start its server with a larger one, or choose another model with /model.",
        window=f"{window:,}",
    )


def cut_silently(host: str, window: int) -> Phrase:
    """Return what to say of a server that leaves out without a word what does not fit."""
    return phrase(
        "{host} leaves out, without saying so, what does not fit its window of about {window} "
        "tokens, so the model forgot the beginning. Start the server with a larger window (Ollama: "
        "OLLAMA_CONTEXT_LENGTH=32768); until then older turns are summed up.",
        host=host,
        window=f"{window:,}",
    )


def _censored() -> Failed:
    what = phrase(
        "The model's provider refuses this content. Word it differently, or go back with /rewind."
    )
    return Failed("content", what)


def broken_reply() -> Failed:
    return Failed("reply", phrase("The reply broke off before its end."), "server")


def filtered_reply() -> Failed:
    return _censored()


def refused_reply(explanation: str) -> Failed:
    """Return what it means that the model refused to reply, with the server's *explanation*."""
    if not explanation:
        return _censored()
    what = phrase(
        "The model refuses this: {why} Word it differently, or go back with /rewind.",
        why=" ".join(_CONTROL.sub(" ", explanation).split())[:_LONGEST_SENTENCE],
    )
    return Failed("content", what)


def overloaded() -> Failed:
    what = phrase("The model's server ran out of resources in the midst of the reply.")
    return Failed("server", what, "server")


def leaked_markup() -> Failed:
    return Failed("reply", phrase("The model wrote a tool call that cannot be read."), "reply")


def empty_reply() -> Failed:
    return Failed("reply", phrase("The model sent an empty reply."), "reply")


def too_many_calls(most: int) -> Failed:
    what = phrase("The model made more than {n} calls in one reply, so none was run.", n=most)
    return Failed("reply", what, "reply")


def unfit_key(account: Account) -> Failed:
    what = phrase(
        "The API key contains characters that no key has. Copy it again to {setting}.",
        setting=account.key_name,
    )
    return Failed("key", what)
