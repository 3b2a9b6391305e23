"""A headless browser in the sandbox: it draws a page of the project."""

from __future__ import annotations

import pytest

from modules.pictures.formats import format_of
from tests.modules.sandbox.sandbox_home import SandboxHome

pytestmark = pytest.mark.as_root

_CHROMIUM = "chromium --headless --no-sandbox"


def test_headless_chromium_draws_a_page(sandbox_home: SandboxHome) -> None:
    project = sandbox_home.project
    (project / "page.html").write_text("<script>document.write('sum ' + (1 + 1))</script>")
    result = sandbox_home.bash(
        f"{_CHROMIUM} --screenshot=shot.png --window-size=300,200 file://$PWD/page.html 2>errors"
        f" && {_CHROMIUM} --dump-dom file://$PWD/page.html 2>>errors"
    )
    assert "sum 2" in result.output, (result, (project / "errors").read_text())
    assert format_of((project / "shot.png").read_bytes()) == "PNG"
