"""Stylesheets with what they import inside."""

from __future__ import annotations

from pathlib import Path

from modules.web.http.stylesheets import stylesheet


def test_imports_stand_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "page.css").write_text('/* All. */\n@import "a.css";\n@import "b.css";\nz {}\n')
    (tmp_path / "a.css").write_text('@import "c.css";\na {}\n')
    (tmp_path / "b.css").write_text("b {}\n")
    (tmp_path / "c.css").write_text('c { content: "@import"; }\n')
    expected = '/* All. */\nc { content: "@import"; }\na {}\nb {}\nz {}\n'
    assert stylesheet(tmp_path / "page.css") == expected
