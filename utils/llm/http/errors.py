"""Failures between us and the model's server, each as one sentence for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from utils.i18n import Phrase, phrase
from utils.llm.account import DEEPSEEK_ACCOUNT, Account
from utils.llm.completion import ErrorKind
from utils.llm.http.error_bodies import STATUS_OF_KIND, message_in, message_of, status_in
from utils.llm.http.reply_failures import (
    CONTROL,
    MAX_MESSAGE_LENGTH,
    RequestFailed,
    content_blocked,
    context_too_long,
    leaked_markup,
)
from utils.llm.http.reply_limits import LimitKind, ReplyLimits
from utils.llm.http.retry_after import seconds_asked
from utils.llm.profiles.refusals import Refusal
from utils.text.keys import redact_secret
from utils.text.sentences import ended

_DAY_SECONDS = 86_400.0
"""Whoever asks for a longer pause than a day is not asked again."""
_MAY_NAME_A_HABIT: tuple[ErrorKind, ...] = ("request", "server", "rate", "context")
"""Kinds of failure whose answer may say what the server does not take."""
_MOST_DAYS = 9_999
_NO_MODEL_WORDS = re.compile(r"supported API model names|[Mm]odel.*(not exist|not found)|^model: ")
_BALANCE_WORDS = re.compile(
    r"insufficient[_ ](balance|quota|credits?|funds)|credit balance is too low|arrearage"
    r"|account is in good standing|余额不足|欠费",
    re.IGNORECASE,
)
_CONTENT_WORDS = re.compile(
    r"Content Exists Risk|content_filter|content management policy|data_?inspection_?failed"
    r"|inappropriate content|considered high risk|prohibited_content|(input|output|new)_sensitive"
    r"|敏感内容",
    re.IGNORECASE,
)
_UNREAD_CALL_WORDS = re.compile(
    r"tool_use_failed|failed to call a function|error parsing tool call|malformed_function_call"
    r"|failed to parse (input at pos|tool call)",
    re.IGNORECASE,
)
"""Words of servers about a call that the model wrote and they could not read: Groq, Ollama, …"""
_RATE_WORDS = re.compile(r"tokens per (minute|day)|\bTP[MD]\b|rate.?limit", re.IGNORECASE)
_NO_TOOLS_WORDS = re.compile(r"not support tools|tools param requires|support tool use")
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_TOO_LONG_WORDS = re.compile(
    r"maximum context length|exceeds? .{0,30}context|context.{0,30}exceed|prompt is too long"
    r"|larger than .{0,20}context|too many input tokens|context_length_exceeded"
    r"|input (tokens?|is|length).{0,20}(too long|exceed)|input token count|longer than the m"
    r"|maximum prompt length|reduce the length of the messages|context the overflows"
    r"|prompt exceeds max|exceeded model token limit|reached context length|too many tokens"
    r"|range of input length|tokens_limit_reached|decoder prompt|must have less than [\d,]+ tokens"
    r"|greater than .{0,20}context|prompt token count|inputs. tokens \+",
    re.IGNORECASE,
)
_WRONG_PATH_WORDS = (
    r"^.{0,20}(page |route |resource |path |file |url )?not found\W*$|method not allowed"
)
_WRONG_PATH_WORDS += (
    r"|unexpected endpoint|(cannot|invalid|unknown) .{0,10}(post|url|path|route)|no route"
)
"""Words that say that there is nothing at a path, rather than no such model."""


class ServerErrors:
    """Failures of a model's server, in sentences that name the server.

    *account* says where its settings are. The key appears in no sentence but for its last
    four characters.
    """

    def __init__(self, host: str, key: str, account: Account = DEEPSEEK_ACCOUNT) -> None:
        self._host = host
        self._key = key
        self._account = account

    def http_error(
        self, status: int, body: str, headers: Mapping[str, str], *, model: str
    ) -> RequestFailed:
        """Return the failure that the HTTP answer *status* means."""
        message, error_type = message_of(body)
        known_failure = self._known_failure(message, error_type, model)
        failed = known_failure or self._http_error(status, message, headers)
        may_adapt = known_failure is None or known_failure.error.kind == "context"
        is_of_shape = failed.error.kind in _MAY_NAME_A_HABIT or status == 403
        if is_of_shape and (may_adapt or _NO_TOOLS_WORDS.search(message)):
            failed.refusal = Refusal.parse(status, body)
        return failed

    def _http_error(self, status: int, message: str, headers: Mapping[str, str]) -> RequestFailed:
        match status:
            case 401 | 403:
                return self._bad_key(status, message)
            case 402:
                return self._no_balance()
            case 413 if not _RATE_WORDS.search(message):
                return context_too_long()
        if status in _TRANSIENT_STATUSES:
            return self._busy(status, message, seconds_asked(headers, message))
        if status < 400 or (status in (404, 405) and not message):
            return self.no_api(status)
        if status in (404, 405) and re.search(_WRONG_PATH_WORDS, message, re.IGNORECASE):
            return self.no_api(status)
        error_message = phrase(
            "{host} did not accept the request (HTTP {status}): {message}",
            host=self._host,
            status=status,
            message=self._clean(message),
        )
        return RequestFailed("request", error_message)

    def no_api(self, status: int) -> RequestFailed:
        error_message = phrase(
            "{host} answers, but has no {api} API (HTTP {status}). Check {setting}.",
            host=self._host,
            api=self._account.api,
            setting=self._account.url_name,
            status=status,
        )
        failed = RequestFailed("request", error_message)
        failed.is_wrong_path = True
        return failed

    def stream_error(self, error: Any, *, model: str) -> RequestFailed:
        """Return the failure that an `error` object in the midst of a stream means."""
        message, error_type = message_in({"error": error})
        status = status_in(error, error_type)
        if known_failure := self._known_failure(message, error_type, model):
            failed = known_failure
        elif error_type in STATUS_OF_KIND or status in (402, 429):
            failed = self._http_error(status, message, {})
        elif "authentication" in error_type or status == 401:
            return self._bad_key(401, message)
        elif status in (400, 422):
            error_message = phrase(
                "{host} ended the reply early: {message}",
                host=self._host,
                message=self._clean(message),
            )
            failed = RequestFailed("request", error_message)
        else:
            failed = self._busy(None, message, seconds_asked({}, message))
        if failed.error.kind in _MAY_NAME_A_HABIT:
            failed.refusal = Refusal.parse(status, message)
        return failed

    def unreachable(self, reason: str) -> RequestFailed:
        error_message = phrase(
            "Cannot reach {host} ({reason}). Check the network, or {setting}.",
            host=self._host,
            setting=self._account.url_name,
            reason=self._clean(reason),
        )
        return RequestFailed("network", error_message, "unreachable")

    def insecure(self, reason: str) -> RequestFailed:
        host, told = self._host, self._clean(reason)
        if "certificate" in reason:
            error_message = phrase(
                "Cannot connect securely to {host}: {reason}. If the server is your own, set "
                "SSL_CERT_FILE to its certificate or its issuer's.",
                host=host,
                reason=told,
            )
        elif re.search(r"wrong.version.number|http.request|record.layer", reason, re.IGNORECASE):
            error_message = phrase(
                "Cannot connect securely to {host}: {reason}. The server may use unencrypted "
                "http://; check {setting}.",
                host=host,
                reason=told,
                setting=self._account.url_name,
            )
        else:
            error_message = phrase(
                "Cannot connect securely to {host}: {reason}", host=host, reason=told
            )
        return RequestFailed("network", error_message)

    def connection_lost(self) -> RequestFailed:
        error_message = phrase("Lost the connection to {host}.", host=self._host)
        return RequestFailed("network", error_message, "server")

    def idle_timeout(self, seconds: float) -> RequestFailed:
        error_message = phrase(
            "{host} sent nothing for {seconds} seconds.", host=self._host, seconds=round(seconds)
        )
        return RequestFailed("network", error_message, "server")

    def limit_exceeded(self, measure: LimitKind, limits: ReplyLimits) -> RequestFailed:
        """Return the failure of a reply that was aborted at a limit."""
        host = self._host
        match measure:
            case "size":
                error_message = phrase("{host} sent an endless reply.", host=host)
            case "progress":
                error_message = phrase(
                    "Timed out: the reply of {host} made no progress for {seconds} seconds.",
                    host=host,
                    seconds=round(limits.progress_seconds),
                )
            case "seconds":
                error_message = phrase(
                    "Timed out: the reply of {host} did not end within {hours} hours.",
                    host=host,
                    hours=round(limits.seconds / 3600),
                )
        return RequestFailed("network", error_message)

    def _known_failure(self, message: str, error_type: str, model: str) -> RequestFailed | None:
        """Return the failure that *message* or *error_type* names, whatever its status is."""
        said = f"{error_type} {message}"
        if _TOO_LONG_WORDS.search(message):
            return context_too_long()
        if _CONTENT_WORDS.search(said):
            return content_blocked()
        if _BALANCE_WORDS.search(said):
            return self._no_balance()
        if _UNREAD_CALL_WORDS.search(said):
            return leaked_markup()
        if _NO_MODEL_WORDS.search(message):
            error_message = phrase(
                "{host} does not serve the model {model}: {message}",
                host=self._host,
                model=model,
                message=self._clean(message),
            )
            return RequestFailed("request", error_message)
        if _NO_TOOLS_WORDS.search(message):
            error_message = phrase(
                "{model} on {host} cannot call tools, which Onefold needs: {message} Choose "
                "another model.",
                host=self._host,
                model=model,
                message=ended(self._clean(message)),
            )
            return RequestFailed("request", error_message)
        return None

    def _bad_key(self, status: int, message: str) -> RequestFailed:
        if not self._key:
            error_message = self._no_key()
        elif status == 403:
            error_message = phrase(
                "{host} refused the request: {message}",
                host=self._host,
                message=self._clean(message),
            )
        else:
            error_message = self._refused_key()
        return RequestFailed("key", error_message)

    def _no_key(self) -> Phrase:
        host, setting = self._host, self._account.key_name
        if not self._is_providers_own:
            return phrase("{host} needs an API key. Set {setting}.", host=host, setting=setting)
        return phrase(
            "{host} needs an API key. Set {setting}; get a key at {page}",
            host=host,
            setting=setting,
            page=self._account.key_page,
        )

    def _refused_key(self) -> Phrase:
        host, setting = self._host, self._account.key_name
        key = "…" + self._key[-4:] if len(self._key) > 8 else "…"
        if not self._is_providers_own:
            return phrase(
                "{host} rejected the API key {key}. Check {setting}.",
                host=host,
                key=key,
                setting=setting,
            )
        return phrase(
            "{host} rejected the API key {key}. Check {setting}; get a new key at {page}",
            host=host,
            key=key,
            setting=setting,
            page=self._account.key_page,
        )

    @property
    def _is_providers_own(self) -> bool:
        """Whether the server is the one that the pages of the account are about."""
        return self._host == self._account.host

    def _no_balance(self) -> RequestFailed:
        if not self._is_providers_own:
            return RequestFailed(
                "balance", phrase("The balance at {host} is used up.", host=self._host)
            )
        error_message = phrase(
            "The balance at {host} is used up. Top it up at {page}",
            host=self._host,
            page=self._account.balance_page,
        )
        return RequestFailed("balance", error_message)

    def _busy(self, status: int | None, message: str, after: float | None) -> RequestFailed:
        kind: ErrorKind = "rate" if status == 429 else "server"
        if after is not None and after > _DAY_SECONDS:
            error_message = phrase(
                "{host} asks to wait {days} days before retrying: {message}",
                host=self._host,
                days=round(min(after / _DAY_SECONDS, _MOST_DAYS)),
                message=self._clean(message) or f"HTTP {status}",
            )
            return RequestFailed(kind, error_message)
        if status == 429:
            error_message = phrase(
                "{host} has too many requests at once: {message}",
                host=self._host,
                message=self._clean(message),
            )
        else:
            error_message = phrase(
                "{host} reports a server error: {message}",
                host=self._host,
                message=self._clean(message) or f"HTTP {status}",
            )
        is_loading = status == 503 and re.search(r"\bload", message, re.IGNORECASE)
        return RequestFailed(
            kind, error_message, "loading" if is_loading else "server", retry_after=after
        )

    def _clean(self, text: str) -> str:
        """Return *text* fit to be shown: one line, not long, no control characters, no key."""
        text = " ".join(CONTROL.sub(" ", redact_secret(self._key, text)).split())
        return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]}…"
