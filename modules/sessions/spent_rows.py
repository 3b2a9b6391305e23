"""What the model calls of all sessions took, read off their records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from core.conversation.figures import Spent
from core.conversation.history import SPENT
from utils.llm.completion import Usage
from utils.llm.served_model import ModelChoice
from utils.text.codec import from_plain

if TYPE_CHECKING:
    from sqlite3 import Connection

_MODEL = "model"
_SQL = """\
SELECT session, event.turn, ts, model, kind,
 json_extract(data, '$.name'), json_extract(data, '$.usage'), json_extract(data, '$.value')
FROM event JOIN session ON session.id = session
WHERE kind IN ('assistant', 'shift') AND CASE WHEN json_valid(data) THEN
 kind = 'assistant' OR json_extract(data, '$.name') IN (?, ?) END
ORDER BY created, session, seq"""


def read_spent(connection: Connection) -> list[Spent]:
    """Return what each model call took, session after session, the oldest first."""
    found: list[Spent] = []
    owners: dict[tuple[float, int, str], str] = {}
    session, model = "", ""
    rows = connection.execute(_SQL, (SPENT, _MODEL))
    for name, turn, when, usual_model, kind, state, usage, value in rows:
        if name != session:
            session, model = name, usual_model
        if kind == "shift" and state == _MODEL:
            model = _model_of(value) or usual_model
        elif text := usage if kind == "assistant" else value:
            # A fork bears the times of what it has copied.
            owner = owners.setdefault((when, turn, text), session)
            read = from_plain(Usage, json.loads(text))
            found.append(Spent(session, turn, when, model, read, is_copy=owner != session))
    return found


def _model_of(value: Any) -> str:
    """Return the name of the model in the state *value*, as SQLite gives it; "" for the usual."""
    if not isinstance(value, str):
        return ""
    return ModelChoice.from_state(json.loads(value) if value.startswith("{") else value).name
