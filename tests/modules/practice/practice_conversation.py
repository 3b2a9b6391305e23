"""Conversation with the practice model: scripted tools answer its calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from modules.practice.practice_model import reply_to
from modules.practice.practice_reply import PracticeCall, PracticeReply
from modules.practice.requests.job_table import JOBS
from modules.practice.voice import Language

TOOLS = tuple(tool for job in JOBS.values() for tool in job.tools)

Tool = Callable[[str, Mapping[str, Any]], str]


@dataclass
class PracticeConversation:
    """A conversation; *tool* answers the calls, *offered* are the tools on offer."""

    tool: Tool = field(default=lambda _name, _arguments: "Done.")
    offered: list[str] = field(default_factory=lambda: list(TOOLS))
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[PracticeCall] = field(default_factory=list)
    screen: Language = "en"

    def ask(self, message: str) -> str:
        """Say *message*, let the calls be answered, and return the last text."""
        self.messages.append({"role": "user", "content": message})
        while (reply := self.reply()).calls:
            self.answer_calls(reply)
        self.messages.append({"role": "assistant", "content": reply.text})
        return reply.text

    def reply(self, *, think: bool = False) -> PracticeReply:
        """Return the next reply, which is not taken up into the conversation."""
        tools = [{"type": "function", "function": {"name": name}} for name in self.offered]
        thinking = {"type": "enabled" if think else "disabled"}
        request = {"messages": self.messages, "tools": tools, "thinking": thinking}
        return reply_to(request, self.screen)

    def answer_calls(self, reply: PracticeReply) -> None:
        """Take *reply* up and answer its calls."""
        ids = [f"call_{len(self.messages)}_{number}" for number in range(len(reply.calls))]
        wire = [
            {"id": id_, "function": {"name": name, "arguments": json.dumps(arguments)}}
            for id_, (name, arguments) in zip(ids, reply.calls, strict=True)
        ]
        self.messages.append({"role": "assistant", "content": reply.text, "tool_calls": wire})
        for id_, call in zip(ids, reply.calls, strict=True):
            self.calls.append(call)
            text = self.tool(call.name, call.arguments)
            self.messages.append({"role": "tool", "tool_call_id": id_, "content": text})


def answering(**texts: str) -> Tool:
    """Return a tool that gives one text for each name, "Done." for the others."""
    return lambda name, _arguments: texts.get(name, "Done.")
