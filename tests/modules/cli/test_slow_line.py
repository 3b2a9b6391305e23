"""What a real terminal (tmux) is sent for each key: over a slow line little may come."""

import shlex
import shutil
from pathlib import Path

import pytest

from tests.modules.cli.terminal import Terminal
from tests.modules.cli.terminal import started as started  # fixtures
from tests.modules.cli.terminal import terminal as terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


def test_a_letter_draws_nothing_below_the_line_again(started: Terminal, tmp_path: Path) -> None:
    started.wait_for_text("guarded · context")
    written = tmp_path / "written"
    started.tmux("pipe-pane", f"cat > {shlex.quote(str(written))}")
    typed = "please look at this"
    for end, letter in enumerate(typed, start=1):
        started.press("-l", letter)
        started.wait_for_text(f"› {typed[:end].rstrip()}")
    started.press("Enter")
    started.see_prompt_after("turn 1")
    before_the_answer, _, _ = written.read_bytes().partition(b"You said")
    assert b"context" not in before_the_answer
