"""Names of the files of configuration, for who only looks whether there is one."""

from __future__ import annotations

PROJECT_FILE = ".mcp.json"
OWN_FILE = "mcp.json"
