"""The sessions of a project on disk."""

from modules.sessions.store import Sessions

__all__ = ["Sessions"]
