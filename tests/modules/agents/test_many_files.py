"""A session is reached also where its process has a thousand files open."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from modules.agents.holder_link import HolderLink
from modules.agents.session_socket import SessionSocket
from tests.assembly import assembled_terminal
from tests.scripted_model import run_turn, text_reply

MANY = 1_100


@contextmanager
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * MANY:
        pytest.skip("No process may have so many files here.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MANY), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(MANY)]
    try:
        yield
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_session_is_reached_where_many_files_are_open(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Hi.")) as env:
        run_turn(env.terminal, "hi")
        session, folder = env.terminal.session, tmp_path / "sockets"
        link = HolderLink(env.store, folder)
        with many_files(), closing(SessionSocket(folder, session, lambda _: {"asked": None})):
            assert link.question(session) is None
