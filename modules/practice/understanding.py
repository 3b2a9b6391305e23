"""The practice model: a pure function from a chat-completions request to its next reply.

It remembers nothing. Each time it reads the person's message again, goes through the steps of what
was asked with the answers that the tools have given so far, and replies with the step after them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from modules.practice.jobs.job_table import JOBS
from modules.practice.jobs.steps import NotDone, NotOffered, StepAnswer, Steps
from modules.practice.jobs.summing_up import digest, is_wanted
from modules.practice.language.examples import what_it_understands
from modules.practice.language.requests import Request, language_of, understand
from modules.practice.parsed_request import DoneCall, ParsedRequest
from modules.practice.practice_reply import PracticeCall, PracticeReply
from modules.practice.voice import Language, Voice, code

MOST_STEPS = 12
"""Steps with calls that one message may take."""


class _TooMany(Exception):
    """The message takes more steps than it may."""


def answer(request: dict[str, Any], screen: Language = "en") -> PracticeReply:
    """Return the reply to *request*; calls only tools that it offers.

    It answers as it is spoken to; what it says of itself (refusals, help, what it understands) is
    Chinese on a Chinese *screen*, whatever was typed.
    """
    if is_wanted(request["messages"]):
        return PracticeReply(digest(request["messages"]))
    talk = ParsedRequest.of(request["messages"])
    requests = understand(talk.message, talk.file)
    offered = {tool["function"]["name"] for tool in request.get("tools") or ()}
    language = requests[0].language if requests else language_of(talk.message)
    say = Voice(language, "zh" if screen == "zh" else None)
    reply = _next_step(_work(requests, say), talk, offered)
    is_thinking = (request.get("thinking") or {}).get("type") == "enabled"
    if not is_thinking or talk.done:
        return reply
    return PracticeReply(reply.text, _thought(requests, say), reply.calls)


def _next_step(steps: Steps, talk: ParsedRequest, offered: Collection[str]) -> PracticeReply:
    """Go through *steps* as far as the tools have answered; return the first reply after that."""
    done = iter(talk.done)
    try:
        calls = next(steps)
        for _ in range(MOST_STEPS * talk.goes):
            while missing := [call.name for call in calls if call.name not in offered]:
                calls = steps.throw(NotOffered(missing[0]))
            answers = [_answer_to(call, done) for call in calls]
            given = tuple(answer for answer in answers if answer is not None)
            if len(given) < len(calls):
                return PracticeReply("", calls=calls)
            calls = steps.send(given)
        steps.throw(_TooMany())
    except StopIteration as end:
        return PracticeReply(end.value)
    raise AssertionError("a job that was ended went on")


def _answer_to(call: PracticeCall, done: Iterator[DoneCall]) -> StepAnswer | None:
    """Return the answer to *call*; *done* is used up to there."""
    return next((item.answer for item in done if item.call == call), None)


def _work(requests: Sequence[Request], say: Voice) -> Steps:
    """Do *requests* one after the other until one fails; return what to say of them all."""
    if not requests:
        return what_it_understands(say.own)
    said = []
    for number, request in enumerate(requests):
        try:
            said.append((yield from _do(request, say)))
        except (NotDone, NotOffered, _TooMany) as end:
            said.append(_why(end, say.own))
            if rest := requests[number + 1 :]:
                said.append(_left(rest, say.own))
            break
    return "\n\n".join(said)


def _do(request: Request, say: Voice) -> Steps:
    if not request.parts.get("path", "…") or not request.parts.get("new", "…"):
        raise NotDone(say.own("Which file? Name it.", "哪个文件？请写出文件名。"))
    return (yield from JOBS[request.kind].steps(request.parts, say))


def _why(end: Exception, say: Voice) -> str:
    match end:
        case NotOffered(name=name):
            return say(
                "That needs the tool {tool}, which I am not given here.",
                "这需要工具 {tool}，但这里没有提供。",
                tool=code(name),
            )
        case _TooMany():
            return say(
                "I stop after {n} steps. Say “go on” to continue.",
                "我最多做 {n} 步，先停在这里。说“继续”就接着做。",
                n=MOST_STEPS,
            )
        case _:
            return str(end)


def _left(rest: Sequence[Request], say: Voice) -> str:
    return say(
        "So I left out: {requests}.",
        "所以没有做：{requests}。",
        requests=say.join([_in_words(request, say) for request in rest]),
    )


def _in_words(request: Request, say: Voice) -> str:
    job = JOBS[request.kind]
    kind = say(job.english, job.chinese)
    about = request.parts.get("path") or request.parts.get("text", "")
    return f"{kind} {code(about)}" if about else kind


def _thought(requests: Sequence[Request], say: Voice) -> str:
    """Return what there is to think: what is asked, and which tools that takes."""
    if not requests:
        return say.own(
            "None of the requests I know fits, and I am no AI: I say what I understand.",
            "这不是我懂的请求，我也不是 AI：我会说明自己懂什么。",
        )
    asked = say.join([_in_words(request, say) for request in requests])
    tools = [tool for request in requests for tool in JOBS[request.kind].tools]
    if not tools:
        return say(
            "The request: {asked}. No tool needed.", "请求：{asked}。不需要工具。", asked=asked
        )
    order = say(", then ", "，再用 ").join(tools)
    return say(
        "The request: {asked}. First {order}.",
        "请求：{asked}。先用 {order}。",
        asked=asked,
        order=order,
    )
