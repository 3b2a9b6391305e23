"""Languages of exercises: how their tests are run, and which files of theirs count."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Language:
    """*tests* are patterns of files that an agent does not see, beside those the exercise names.

    *sources* is a pattern of further files that may be handed in. *command* runs the tests in
    bash; "" where Python does. *programs* are needed for that. *enabled* is what switches a test
    off, and what is to stand in its place.
    """

    tests: tuple[str, ...]
    command: str = ""
    programs: tuple[str, ...] = ()
    sources: str = ""
    enabled: tuple[str, str] | None = None
    has_node_modules: bool = False

    def missing(self, track: Path) -> str:
        """Return why tests of the folder *track* cannot be run here, "" if they can."""
        absent = [name for name in self.programs if shutil.which(name) is None]
        if absent:
            return f"there is no {' and no '.join(absent)} here"
        if self.has_node_modules and not (track / "node_modules").is_dir():
            return f"run npm install in {track} with the package.json of one of its exercises"
        return ""

    def all_enabled(self, text: str) -> str:
        """Return *text*, a test file, with all of its tests switched on."""
        return re.sub(*self.enabled, text) if self.enabled else text


LANGUAGES: Mapping[str, Language] = {
    "python": Language(("*_test.py", "test_*.py", "conftest.py")),
    "javascript": Language(
        ("*.spec.js",),
        "node_modules/.bin/jest --ci ./",
        ("node",),
        enabled=(r"\bx(test|it|describe)\(", r"\1("),
        has_node_modules=True,
    ),
    "go": Language(("*_test.go",), "go test ./...", ("go",)),
    "rust": Language(
        ("tests/*",), "cargo test --offline -- --include-ignored", ("cargo",), "src/**/*.rs"
    ),
    "java": Language(
        ("src/test/**/*",),
        "gradle test --offline",
        ("java", "gradle"),
        "src/main/java/**/*.java",
        (r"@Disabled\([^)]*\)", ""),
    ),
    "cpp": Language(
        ("*_test.cpp", "test/*"),
        "cmake -S . -B build -DEXERCISM_RUN_ALL_TESTS=1 && cmake --build build",
        ("cmake", "make", "c++"),
    ),
}
"""By the name of the track, with the tests of all of them that the polyglot benchmark has."""
