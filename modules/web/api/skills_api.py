"""The API on skills: listed, looked at, and installed from an archive that a page sends."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

from modules.skills.feature import Skills
from modules.web.api.sessions_api import ID
from modules.web.http.errors import ApiError, as_api_errors
from modules.web.http.routes import route
from modules.web.sessions.session_registry import SessionRegistry
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.codec import to_plain
from utils.text.tokens import estimate_tokens

Json = dict[str, Any]
_MAX_ARCHIVE = 100_000_000  # bytes
_NAME = Annotated[str, "Of the skill."]


class SkillsApi:
    """Shows the skills that sessions of *registry* have; `/skills` as a command switches them."""

    def __init__(self, registry: SessionRegistry) -> None:
        self._registry = registry

    @route(
        "GET",
        "/api/sessions/{id}/skills",
        "The skills there are, and their switches.",
        answer={
            "skills": "Each with its name, whether it is on, its source (project, own, built-in), "
            "folder, description, tokens, why it cannot be used, and whether it was installed."
        },
    )
    def skills(self, id: ID) -> Json:  # noqa: A002 - its name in the address
        skills = self._opened(id)
        return {
            "skills": [
                {
                    "name": visible(skill.name),
                    "on": is_on,
                    "source": skill.origin,
                    "folder": skill.shown,
                    "description": skill.description,
                    "tokens": estimate_tokens(skill.body),
                    "problem": to_plain(skill.problem),
                    "installed": skills.is_installed(skill),
                }
                for skill, is_on in skills.all()
            ]
        }

    @route(
        "GET",
        "/api/sessions/{id}/skills/{name}",
        "What the model reads of a skill.",
        answer={"text": "Below its front matter.", "files": "The paths of its other files."},
    )
    def skill(self, id: ID, name: _NAME) -> Json:  # noqa: A002
        skills = self._opened(id)
        with as_api_errors():
            skill, files = skills.described(name)
        return {"text": skill.body, "files": [*map(visible, files)]}

    @route(
        "POST",
        "/api/sessions/{id}/skills",
        "Install the skills in an archive (zip, tar) for the person.",
        status=201,
        limit=_MAX_ARCHIVE,
        answer={"names": "Of the skills."},
    )
    def install(self, id: ID, data: bytes, name: Annotated[str, "Of the archive."]) -> Json:  # noqa: A002
        skills = self._opened(id)
        with tempfile.TemporaryDirectory(prefix="onefold-skills-") as folder:
            # In an error it bears its own name, whatever that is.
            archive = Path(folder, visible(Path(name).name).replace("/", "_") or "skills")
            try:
                archive.write_bytes(data)
            except (OSError, ValueError):
                archive = Path(folder, "skills")
                archive.write_bytes(data)
            with as_api_errors():
                return {"names": skills.install(archive)}

    def _opened(self, session: str) -> Skills:
        skills = self._registry.open(session).terminal.features.find(Skills)
        if skills is None:
            raise ApiError("not_found", phrase("There are no skills here."))
        return skills
