"""Words about a job, for the model and for people."""

from __future__ import annotations

from collections.abc import Sequence

from modules.jobs.job import LIMITS, BackgroundJob
from modules.terminal_ops import ending_for_model, ending_for_person
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible

_MAX_COMMAND = 80  # characters


def shown_command(command: str) -> str:
    """Return *command* on one line, as far as it is needed to know it again."""
    text = visible(" ".join(command.split()))
    return text if len(text) <= _MAX_COMMAND else f"{text[:_MAX_COMMAND]}…"


def line_for_model(job: BackgroundJob) -> str:
    return f"{state_for_model(job)}: {shown_command(job.command)}"


def state_for_model(job: BackgroundJob) -> str:
    if job.is_running:
        ports = f", listens on {_join(job.ports)}" if job.ports else ""
        return f"job {job.number} runs ({job.seconds:.1f} s){ports}"
    if job.result is None:
        return f"job {job.number} failed: {job.failure or 'an error of Onefold'}"
    if job.result.exit_reason == "stopped":
        return f"job {job.number} was stopped ({job.seconds:.1f} s)"
    ending = ending_for_model(job.result, LIMITS, 0)
    return f"job {job.number} ended: {ending[:1].lower()}{ending[1:]}"


def state_for_person(job: BackgroundJob) -> Phrase:
    if job.is_running and job.ports:
        return phrase("job {n} runs, port {ports}", n=job.number, ports=_join(job.ports))
    if job.is_running:
        return phrase("job {n} runs", n=job.number)
    if job.result is None:
        return job.failure or phrase("it could not be run to its end")
    if job.result.exit_reason == "stopped":
        return phrase("job {n} was stopped", n=job.number)
    ending = ending_for_person(job.result)
    if job.result.exit_code:
        code = job.result.exit_code
        return phrase("job {n} ended: exit code {code}", n=job.number, code=code)
    return phrase("job {n} ended: {how}", n=job.number, how=ending)


def names_of(numbers: Sequence[int]) -> str:
    """Return "job 1" or "jobs 1, 2", "" for none."""
    if not numbers:
        return ""
    return f"job{'s' if len(numbers) > 1 else ''} {_join(numbers)}"


def count_for_person(numbers: Sequence[int]) -> Text:
    """Return how many run, and how to see them, "" for none."""
    if not numbers:
        return ""
    if len(numbers) == 1:
        return phrase("1 job runs: /jobs")
    return phrase("{n} jobs run: /jobs", n=len(numbers))


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
