"""Links to previews over HTTP, and what the page may show in a frame."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from core.feature import Feature
from modules.files.project import Project
from modules.jobs.feature import Jobs
from modules.outputs import Outputs
from modules.preview.feature import Previews
from modules.sandbox.sandbox import Sandbox
from modules.storage.data_folder import DataFolder
from modules.web.server import NO_REMOTE_PREVIEWS
from modules.web.servers.bind import BindAddress
from tests.modules.sandbox.sandbox_home import late, wait_until
from tests.modules.web.serving import RunningServer
from utils.waiting import Stop

Serve = Callable[..., AbstractContextManager[RunningServer]]


def make_features(project: Project, data: DataFolder) -> list[Feature]:
    sandbox = Sandbox(project.root, hidden=[data.root], cache_folder=data.root)
    jobs = Jobs(late(sandbox), data.path, Stop(), Outputs(data.outputs, reader="read_file"))
    return [jobs, Previews(jobs, lambda _: None)]


def begin_job(served: RunningServer, session: str) -> None:
    """Begin a job in *session* that serves on port 8000, and wait until it does."""
    jobs = served.server.registry.open(session).terminal.features.find(Jobs)
    assert jobs is not None
    for _ in jobs.begin("python3 -um http.server 8000", None):
        pass
    assert wait_until(lambda: jobs.rows()[0]["ports"] == [8000])


def follow(link: str) -> http.client.HTTPResponse:
    host = link.split("/")[2]
    connection = http.client.HTTPConnection("127.0.0.1", int(host.split(":")[1]), timeout=20)
    connection.request("GET", link.partition(host)[2], headers={"Host": host})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_a_link_leads_to_a_job_and_the_page_may_frame_it_alone(serve: Serve) -> None:
    with serve(make_features=make_features) as served:
        session = served.new_session()
        begin_job(served, session)
        path = f"/api/sessions/{session}/previews"
        wanted: dict[str, Any] = {"job": 1, "port": 8000}
        answer = served.ask("POST", path, {**wanted, "pane": True, "path": "/a"})
        link = answer.json["url"]
        entry = follow(link)
        assert (entry.status, entry.getheader("Location")) == (303, "/a")
        assert "Partitioned" in (entry.getheader("Set-Cookie") or "")
        assert served.ask("GET", f"{path}?job=1&port=8000").json == {"path": "/"}
        assert served.ask("POST", path, {"job": 1, "port": 8001}).status == 422
        assert served.ask("POST", path, {"job": 2, "port": 8000}).status == 422
        policy = served.ask("GET", "/").headers["content-security-policy"]
        frames = next(one for one in policy.split("; ") if one.startswith("frame-src")).split()
        assert frames[1] == "'self'"
        assert link.split("/")[2].partition(".")[2] == frames[2].removeprefix("http://*.")
        assert len(frames) == 3


def test_a_server_for_other_machines_shows_none_and_says_why(serve: Serve) -> None:
    with serve(make_features=make_features) as served:
        remote = BindAddress(host="0.0.0.0", port=0, allow_remote=True)  # noqa: S104 - not bound
        assert served.server._make_gateway(remote) is None
        gateway, served.server._previews = served.server._previews, None  # as it would be there
        assert gateway
        gateway.close()
        session = served.new_session()
        begin_job(served, session)
        wanted = {"job": 1, "port": 8000}
        answer = served.ask("POST", f"/api/sessions/{session}/previews", wanted)
        assert (answer.status, answer.json["error"]) == (422, str(NO_REMOTE_PREVIEWS))
