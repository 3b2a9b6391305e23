"""Pictures that a line typed in an attached terminal names: given to the session on the server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from modules.cli.attach.http import ServerLink


def given(link: ServerLink, session: str, line: str) -> list[str]:
    """Give *session* the pictures whose paths stand in *line*; return their digests.

    Relative paths are in the project, as in a terminal of its own. Raises `UserError`.
    """
    if "/" not in line and "@" not in line:
        return []
    from modules.pictures.mentions import add_mentioned_pictures

    def give(data: bytes, name: str) -> str:
        path = f"/api/sessions/{session}/pictures?name={quote(name, safe='')}"
        digest: str = link.upload(path, data)["digest"]
        return digest

    return list(
        add_mentioned_pictures(line, Path(link.request("GET", "/api/status")["root"]), give)
    )


def is_command(line: str) -> bool:
    """Return whether *line* is a slash command, and no path from the root."""
    name = line.split(maxsplit=1)[0] if line.strip() else ""
    return name.startswith("/") and "/" not in name[1:]
