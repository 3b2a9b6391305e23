"""The tools as they are declared, for tests of what is asked about their calls."""

from __future__ import annotations

from core.tool_spec import marked
from core.tools import Tool
from modules.annotations import Annotations
from modules.file_manager import FileManager
from modules.focus import Focus
from modules.git.commit import GitCommit
from modules.git.remote import GitRemote
from modules.jobs.feature import Jobs
from modules.memory_manager import Memory
from modules.search_engine import WebSearch
from modules.terminal_ops import TerminalOps
from modules.text_search import TextSearch
from modules.todos import Todos

KINDS = (
    FileManager,
    TextSearch,
    TerminalOps,
    Jobs,
    GitCommit,
    GitRemote,
    Todos,
    Focus,
    Annotations,
    Memory,
    WebSearch,
)
SPECS = {name: spec for kind in KINDS for name, spec in marked(kind).items()}


def tool_named(name: str) -> Tool:
    """Return the tool *name* as it is declared; it cannot be run."""
    kind = next(kind for kind in KINDS if name in marked(kind))
    return Tool(name, "", SPECS[name], {"properties": {}, "required": []}, getattr(kind, name))
