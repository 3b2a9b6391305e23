"""What `onefold -p --output stream-json` printed, as a trajectory in ATIF v1.8.

ATIF, the Agent Trajectory Interchange Format, is what Harbor keeps and shows of a run. By hand:
`python3 -m onefold_harbor.atif onefold.jsonl [onefold-session.json] > trajectory.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

VERSION = "ATIF-v1.8"
SHOWN_ONLY = (
    "The session was not exported: observations are what a person was shown, not what the model "
    "read, and what the model was told at the start is missing."
)

Event = Mapping[str, Any]
Step = dict[str, Any]


def read_events(text: str) -> list[Event]:
    """Return the events in *text*; a last line that was cut off is left out."""
    lines = text.splitlines()
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(json.loads(line))
        except ValueError:
            if number != len(lines):
                raise
    return events


def to_trajectory(
    events: Iterable[Event],
    *,
    version: str,
    model: str | None = None,
    session: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Return the trajectory of *events*, or None when nothing was said in them.

    *version* is that of Onefold, *session* what `/export FILE.json` wrote of the same session: it
    has what the model read of each call, which the events have not.
    """
    record = _Record(session or {})
    for event in events:
        record.add(event)
    if not record.steps:
        return None
    result = record.result
    agent = {"name": "onefold", "version": version}
    if name := model or (session or {}).get("model"):
        agent["model_name"] = name
    trajectory = {
        "schema_version": VERSION,
        "session_id": result.get("session") or (session or {}).get("session"),
        "agent": agent,
        "steps": record.numbered_steps(),
        "notes": None if session else SHOWN_ONLY,
        "final_metrics": _final_metrics(record),
        "extra": {"status": result["status"], "error": result["error"]} if result else None,
    }
    return {key: value for key, value in trajectory.items() if value is not None}


class _Record:
    """The steps of a run, and its result once it has ended."""

    def __init__(self, session: Mapping[str, Any]) -> None:
        self.result: Event = {}
        self.steps: list[Step] = _told_first(session)
        self._read = {
            one["call_id"]: one["text"]
            for one in session.get("records", ())
            if one["kind"] == "tool"
        }

    def add(self, event: Event) -> None:  # noqa: C901 - one case for each event
        """Take *event* into the steps; those that only a screen needs say nothing here."""
        match event["type"]:
            case "TurnStarted":
                self.steps.append({"source": "user", "message": event["text"]})
            case "StepStarted":
                self.steps.append({"source": "agent", "message": "", "llm_call_count": 1})
            case "ThinkingDelta":
                step = self.steps[-1]
                step["reasoning_content"] = step.get("reasoning_content", "") + event["text"]
            case "TextDelta":
                self.steps[-1]["message"] += event["text"]
            case "Retrying":  # what came of the reply no longer counts
                self.steps[-1]["message"] = ""
                self.steps[-1].pop("reasoning_content", None)
            case "StepFinished":
                self.steps[-1]["metrics"] = _metrics(event["usage"])
            case "ToolStarted":
                self._call(event)["arguments"] = event["arguments"]
            case "ToolFinished":
                self._call(event)
                observation = self.steps[-1].setdefault("observation", {"results": []})
                observation["results"].append(self._result(event))
            case "Result":
                self.result = event

    def numbered_steps(self) -> list[Step]:
        """Return the steps, numbered from 1, without those in which no word ever came."""
        said = [step for step in self.steps if len(step) > 3 or step["message"]]
        return [{"step_id": number, **step} for number, step in enumerate(said, 1)]

    def _call(self, event: Event) -> dict[str, Any]:
        """Return the call that *event* is about, new if this is the first word of it."""
        calls: list[dict[str, Any]] = self.steps[-1].setdefault("tool_calls", [])
        for call in calls:
            if call["tool_call_id"] == event["call_id"]:
                return call
        calls.append(
            {
                "tool_call_id": event["call_id"],
                "function_name": event["name"],
                "arguments": {},
            }
        )
        return calls[-1]

    def _result(self, event: Event) -> dict[str, Any]:
        content = self._read.get(event["call_id"], _shown(event["card"]))
        extra = {"state": event["state"], "error_code": event["error_code"]}
        return {"source_call_id": event["call_id"], "content": content, "extra": extra}


def _told_first(session: Mapping[str, Any]) -> list[Step]:
    """Return what the model was told before the person's first word."""
    steps: list[Step] = []
    for message in session.get("messages", ()):
        if message["role"] != "system":
            break
        steps.append({"source": "system", "message": message["content"]})
    return steps


def _shown(card: Mapping[str, Any]) -> str:
    """Return the text of a call's card as far as it has one."""
    return str(card.get("output") or card.get("body") or "")


def _metrics(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt_tokens": usage["prompt_tokens"],
        "completion_tokens": usage["completion_tokens"],
        "cached_tokens": usage["cache_hit_tokens"],
        "cost_usd": usage["cost_usd"],
        "extra": {"reasoning_tokens": usage["reasoning_tokens"], "requests": usage["requests"]},
    }


def _final_metrics(record: _Record) -> dict[str, Any]:
    """Return the totals: those of the result, or the sum of the steps where it never came."""
    if record.result:
        every = [_metrics(record.result["usage"])]
    else:
        every = [step["metrics"] for step in record.steps if "metrics" in step]
    return {
        "total_prompt_tokens": sum(one["prompt_tokens"] for one in every),
        "total_completion_tokens": sum(one["completion_tokens"] for one in every),
        "total_cached_tokens": sum(one["cached_tokens"] for one in every),
        "total_cost_usd": sum(one["cost_usd"] for one in every),
        "total_steps": len(record.numbered_steps()),
    }


def main(arguments: Sequence[str]) -> int:
    if len(arguments) not in (1, 2):
        print("usage: python3 -m onefold_harbor.atif STREAM [SESSION]", file=sys.stderr)
        return 2
    stream, *exported = (Path(name).read_text(encoding="utf-8") for name in arguments)
    session = json.loads(exported[0]) if exported else None
    trajectory = to_trajectory(read_events(stream), version="unknown", session=session)
    if trajectory is None:
        print("There is nothing in it.", file=sys.stderr)
        return 1
    print(json.dumps(trajectory, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
