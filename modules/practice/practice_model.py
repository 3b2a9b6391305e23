"""Practice model: a pure function from a chat-completions request to its next reply.

It remembers nothing. Each time it reads the person's message again, goes through the steps of what
was asked with the answers that the tools have given so far, and replies with the step after them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

from modules.practice.language.examples import help_text
from modules.practice.language.requests import Request, language_of, parse_requests
from modules.practice.parsed_request import AnsweredCall, ParsedRequest
from modules.practice.practice_reply import PracticeCall, PracticeReply
from modules.practice.requests.job_table import JOBS
from modules.practice.requests.steps import JobFailed, JobSteps, StepAnswer, ToolUnavailable
from modules.practice.requests.summary import is_summary_request, summarize
from modules.practice.voice import Language, Voice, code

MAX_STEPS = 12
"""Steps with calls that one message may take."""


class _TooManySteps(Exception):
    """The message takes more steps than it may."""


def reply_to(request: dict[str, Any], screen: Language = "en") -> PracticeReply:
    """Return the reply to *request*; calls only tools that it offers.

    It answers as it is spoken to; what it says of itself (refusals, help, what it understands) is
    Chinese on a Chinese *screen*, whatever was typed.
    """
    if "tools" not in request and "<<<[TOOL_DEFINITION]>>>" in str(request["messages"][:1]):
        from modules.practice.vcp_requests import reply_in_vcp  # for those alone who choose it

        return reply_in_vcp(request, partial(reply_to, screen=screen))
    if is_summary_request(request["messages"]):
        return PracticeReply(summarize(request["messages"]))
    parsed = ParsedRequest.parse(request["messages"])
    requests = parse_requests(parsed.message, parsed.file)
    offered = {tool["function"]["name"] for tool in request.get("tools") or ()}
    language = requests[0].language if requests else language_of(parsed.message)
    say = Voice(language, "zh" if screen == "zh" else None)
    reply = _next_step(_run_requests(requests, say), parsed, offered)
    is_thinking = (request.get("thinking") or {}).get("type") == "enabled"
    if not is_thinking or parsed.answered_calls:
        return reply
    return PracticeReply(reply.text, _thinking_text(requests, say), reply.calls)


def _next_step(steps: JobSteps, parsed: ParsedRequest, offered: Collection[str]) -> PracticeReply:
    """Go through *steps* as far as the tools have answered; return the first reply after that."""
    answered_calls = iter(parsed.answered_calls)
    try:
        calls = next(steps)
        for _ in range(MAX_STEPS * parsed.continue_count):
            while missing := [call.name for call in calls if call.name not in offered]:
                calls = steps.throw(ToolUnavailable(missing[0]))
            answers = [_answer_to(call, answered_calls) for call in calls]
            ready = tuple(answer for answer in answers if answer is not None)
            if len(ready) < len(calls):
                return PracticeReply("", calls=calls)
            calls = steps.send(ready)
        steps.throw(_TooManySteps())
    except StopIteration as end:
        return PracticeReply(end.value)
    raise AssertionError("a job that was ended went on")


def _answer_to(call: PracticeCall, answered_calls: Iterator[AnsweredCall]) -> StepAnswer | None:
    """Return the answer to *call*; *answered_calls* is used up to there."""
    return next((item.answer for item in answered_calls if item.call == call), None)


def _run_requests(requests: Sequence[Request], say: Voice) -> JobSteps:
    """Run *requests* one after the other until one fails; return the text about them all."""
    if not requests:
        return help_text(say.interface_voice)
    texts = []
    for number, request in enumerate(requests):
        try:
            texts.append((yield from _run_job(request, say)))
        except (JobFailed, ToolUnavailable, _TooManySteps) as failure:
            texts.append(_failure_text(failure, say.interface_voice))
            if skipped := requests[number + 1 :]:
                texts.append(_skipped_text(skipped, say.interface_voice))
            break
    return "\n\n".join(texts)


def _run_job(request: Request, say: Voice) -> JobSteps:
    if not request.parts.get("path", "…") or not request.parts.get("new", "…"):
        raise JobFailed(say.interface_voice("Which file? Name it.", "哪个文件？请写出文件名。"))
    return (yield from JOBS[request.kind].steps(request.parts, say))


def _failure_text(failure: Exception, say: Voice) -> str:
    match failure:
        case ToolUnavailable(name=name):
            return say(
                "That needs the tool {tool}, which I am not given here.",
                "这需要工具 {tool}，但这里没有提供。",
                tool=code(name),
            )
        case _TooManySteps():
            return say(
                "I stop after {n} steps. Say “go on” to continue.",
                "我最多做 {n} 步，先停在这里。说“继续”就接着做。",
                n=MAX_STEPS,
            )
        case _:
            return str(failure)


def _skipped_text(skipped: Sequence[Request], say: Voice) -> str:
    return say(
        "So I left out: {requests}.",
        "所以没有做：{requests}。",
        requests=say.join([_request_text(request, say) for request in skipped]),
    )


def _request_text(request: Request, say: Voice) -> str:
    job = JOBS[request.kind]
    kind = say(job.english, job.chinese)
    about = request.parts.get("path") or request.parts.get("text", "")
    return f"{kind} {code(about)}" if about else kind


def _thinking_text(requests: Sequence[Request], say: Voice) -> str:
    """Return the thinking text: the requests, and the tools that they take."""
    if not requests:
        return say.interface_voice(
            "None of the requests I know fits, and I am no AI: I say what I understand.",
            "这不是我懂的请求，我也不是 AI：我会说明自己懂什么。",
        )
    request_texts = say.join([_request_text(request, say) for request in requests])
    tools = [tool for request in requests for tool in JOBS[request.kind].tools]
    if not tools:
        return say(
            "The request: {asked}. No tool needed.",
            "请求：{asked}。不需要工具。",
            asked=request_texts,
        )
    order = say(", then ", "，再用 ").join(tools)
    return say(
        "The request: {asked}. First {order}.",
        "请求：{asked}。先用 {order}。",
        asked=request_texts,
        order=order,
    )
