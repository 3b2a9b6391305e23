"""Previews of a session: what its jobs serve, shown in the person's browser."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.cards import Card, TableCard, TextCard
from core.feature import Feature, command
from core.hooks import HoldsResources
from modules.jobs.feature import Jobs
from modules.preview.access import Kind
from utils.i18n import Phrase, UserError, phrase
from utils.text.lines import parse_number

if TYPE_CHECKING:  # the rest is loaded for the first job or preview
    from modules.jobs.job import BackgroundJob, JobChange
    from modules.preview.gateway import PreviewGateway
    from modules.preview.inner_sockets import InnerSockets
    from modules.preview.preview import Preview

OnError = Callable[[BaseException], object]


class Previews(Feature, HoldsResources):
    """Shows ports of *jobs* by a gateway; each ends with its job, and nothing begins before that.

    Unless one is shared with it, it makes a gateway of its own for the first preview, where
    *on_error* gets our own failures.
    """

    def __init__(self, jobs: Jobs, on_error: OnError) -> None:
        self._jobs = jobs
        self._on_error = on_error
        self._lock = threading.Lock()
        self._gateway: PreviewGateway | None = None
        self._own_gateway: PreviewGateway | None = None
        self._why_none: Phrase | None = None
        self._sockets: dict[BackgroundJob, InnerSockets] = {}
        self._previews: dict[tuple[BackgroundJob, int], Preview] = {}
        self._told: set[tuple[BackgroundJob, int]] = set()
        self._offers_links = False
        jobs.watch(self._on_change)
        jobs.hints_on = _hints_on

    def share(self, gateway: PreviewGateway) -> None:
        """Have *gateway*, which somebody else closes, show them."""
        self._gateway = gateway

    def refuse(self, why: Phrase) -> None:
        """Show none, for *why*."""
        self._why_none = why

    def offer_links(self) -> None:
        """Tell the person of a link whenever a job opens a port, for a screen without buttons."""
        self._offers_links = True

    def link(self, job: int, port: int, kind: Kind, path: str = "/") -> str:
        """Return an address, which works once, that shows *path* of *port* of *job*.

        Raises `UserError`.
        """
        return self._preview(self._serving(job, port), port).link(kind, path)

    def path(self, job: int, port: int) -> str:
        """Return which page of *port* of *job* was shown last in a pane. Raises `UserError`."""
        return self._preview(self._serving(job, port), port).path

    @command(
        "/preview [PORT]",
        "Open a background job's web page in the browser.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def show(self, argument: str) -> Card:
        wanted = parse_number(argument) if argument else None
        if argument and wanted is None:
            raise UserError(phrase("Usage: /preview PORT, such as /preview 8000"))
        rows = tuple(
            (f":{port}", self._tab(job, port))  # short, so that the link fits on a line
            for job in self._jobs.running()
            for port in job.ports
            if wanted in (None, port)
        )
        if rows:
            return TableCard(phrase("Previews; each link opens once"), rows)
        if wanted is not None:
            raise UserError(
                phrase("No job is listening on port {port}. /jobs lists the jobs.", port=wanted)
            )
        return TextCard(phrase("No job is listening on a port."))

    def _tab(self, job: BackgroundJob, port: int) -> str:
        return self._preview(job, port).link("tab")

    def _serving(self, number: int, port: int) -> BackgroundJob:
        for job in self._jobs.running():
            if job.number == number and (port in job.ports or (job, port) in self._previews):
                return job
        raise UserError(
            phrase("No job is listening on port {port}. /jobs lists the jobs.", port=port)
        )

    def _preview(self, job: BackgroundJob, port: int) -> Preview:
        """Return the preview of *port* of *job*, made if there is none. Raises `UserError`."""
        with self._lock:
            key = (job, port)
            if key not in self._previews:
                gateway, sockets = self._open_gateway(), self._open_sockets(job)
                self._previews[key] = gateway.open(port, sockets.connect, job.network_hosts)
            preview = self._previews[key]
        if not job.is_running:  # its end may have been told before there was anything to end
            self._end(job)
        return preview

    def _open_gateway(self) -> PreviewGateway:
        if self._why_none is not None:
            raise UserError(self._why_none)
        if self._gateway is None:
            from modules.preview.gateway import PreviewGateway

            self._gateway = self._own_gateway = PreviewGateway(self._on_error)
        return self._gateway

    def _open_sockets(self, job: BackgroundJob) -> InnerSockets:
        if job not in self._sockets:
            from modules.preview.inner_sockets import InnerSockets

            try:
                self._sockets[job] = InnerSockets(job.open_network)
            except OSError as error:
                raise UserError(
                    phrase(
                        "Cannot enter the network of job {n}: {why}.",
                        n=job.number,
                        why=error.strerror or str(error),
                    )
                ) from error
        return self._sockets[job]

    # --- what happens to jobs --------------------------------------------------------------------

    def _on_change(self, job: BackgroundJob, change: JobChange) -> None:
        if change == "end":
            self._end(job)
        elif change == "port" and self._offers_links:
            for port in job.ports:
                self._tell(job, port)

    def _tell(self, job: BackgroundJob, port: int) -> None:
        key = (job, port)
        with self._lock:
            is_known = key in self._told
            self._told.add(key)
        if is_known:
            return
        try:
            link = self._tab(job, port)
        except UserError as problem:
            self._jobs.tell_person(problem.message)
            return
        self._jobs.tell_person(phrase("Preview of port {port}: {link}", port=port, link=link))

    def _end(self, job: BackgroundJob) -> None:
        with self._lock:
            ended = [key for key in self._previews if key[0] is job]
            previews = [self._previews.pop(key) for key in ended]
            self._told = {key for key in self._told if key[0] is not job}
            sockets, gateway = self._sockets.pop(job, None), self._gateway
        for preview in previews:
            if gateway:
                gateway.end(preview)
        if sockets:
            sockets.close()

    def close(self) -> None:
        for job in list(self._sockets):
            self._end(job)
        if self._own_gateway:
            self._own_gateway.close()


def _hints_on(job: BackgroundJob) -> list[Phrase]:
    ports = job.ports if job.is_running else ()
    return [phrase("to see it: /preview {port}", port=port) for port in ports]
