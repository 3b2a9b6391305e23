"""What the model calls of all sessions took, read off their records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from core.conversation.figures import Spent
from core.conversation.helper_records import HELPER
from core.conversation.history import SPENT
from utils.llm.completion import Usage
from utils.llm.served_model import ModelChoice
from utils.text.codec import from_plain

if TYPE_CHECKING:
    from sqlite3 import Connection

_MODEL = "model"
_SQL = """\
WITH valid AS (
 SELECT session, event.turn, ts, seq, model, created, CASE WHEN json_valid(data) THEN data END data
 FROM event JOIN session ON session.id = session WHERE kind IN ('assistant', 'shift')
), placed AS (
 SELECT *, CASE json_extract(data, '$.name') WHEN ? THEN '$.value.record' ELSE '$' END place
 FROM valid
)
SELECT session, turn, ts, model, json_extract(data, '$.value.call'),
 json_extract(data, place || '.name') state, json_extract(data, place || '.usage'),
 json_extract(data, place || '.value')
FROM placed WHERE json_extract(data, place || '.kind') = 'assistant' OR state IN (?, ?)
ORDER BY created, session, seq"""
"""Each reply, what else was spent, and each choice of a model: of helpers with their call."""


def read_spent(connection: Connection) -> list[Spent]:
    """Return what each model call took, session after session, the oldest first."""
    found: list[Spent] = []
    owners: dict[tuple[float, int, str], str] = {}
    session = ""
    models: dict[str | None, str] = {}  # of the session, and of each helper by its call
    rows = connection.execute(_SQL, (HELPER, SPENT, _MODEL))
    for name, turn, when, usual_model, call, state, usage, value in rows:
        if name != session:
            session, models = name, {None: usual_model}
        if state == _MODEL:
            models[call] = _model_of(value) or usual_model
        elif text := usage if state is None else value:
            # A fork bears the times of what it has copied.
            owner = owners.setdefault((when, turn, text), session)
            read = from_plain(Usage, json.loads(text))
            model = models.get(call, models[None])
            found.append(Spent(session, turn, when, model, read, is_copy=owner != session))
    return found


def _model_of(value: Any) -> str:
    """Return the name of the model in the state *value*, as SQLite gives it; "" for the usual."""
    if not isinstance(value, str):
        return ""
    return ModelChoice.from_state(json.loads(value) if value.startswith("{") else value).name
