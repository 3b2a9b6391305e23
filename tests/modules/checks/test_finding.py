"""Checks are found in what tools read, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from modules.checks.finding import found_checks, is_part_of_checks
from modules.files.project import Project

TEST = "import unittest\nclass ATest(unittest.TestCase):\n    def test_a(self): pass\n"
MOCK = "from unittest.mock import patch\ndef test_a():\n    assert patch\n"
FOUND: list[tuple[dict[str, str], list[str]]] = [
    ({}, []),
    ({"README.md": "run `make test`", "AGENTS.md": "Run npm test."}, []),
    ({"Makefile": "all:\n\techo\ntest: all\n\tpytest\n"}, ["make test"]),
    ({"Makefile": "check:\n\ttrue\ntest:\n\ttrue\n"}, ["make check"]),
    ({"Makefile": ".PHONY: all test\nlint test: all\n\ttrue\n"}, ["make test"]),
    ({"Makefile": ".PHONY: test\n"}, []),
    ({"Makefile": "test := 3\nall:\n\ttrue\n"}, []),
    ({"package.json": '{"scripts": {"test": "vitest run"}}'}, ["npm test"]),
    ({"package.json": '{"scripts": {"test": "react-scripts test"}}'}, ["CI=true npm test"]),
    (
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        [],
    ),
    ({"package.json": "{"}, []),
    ({"package.json": '{"scripts": []}'}, []),
    ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, ["python3 -m pytest -q"]),
    ({"pyproject.toml": "[tool.ruff]\n"}, []),
    ({"pyproject.toml": "not toml"}, []),
    ({"setup.cfg": "[tool:pytest]\n"}, ["python3 -m pytest -q"]),
    ({"pytest.ini": ""}, ["python3 -m pytest -q"]),
    ({"tests/test_a.py": "def test_a(): pass\n"}, ["python3 -m pytest -q"]),
    ({"tests/test_a.py": TEST}, ["python3 -m unittest discover -s tests"]),
    ({"tests/test_a.py": TEST, "tests/test_b.py": "import pytest\n"}, ["python3 -m pytest -q"]),
    ({"tests/data.py": TEST}, []),
    ({"tests/test_a.py": MOCK}, ["python3 -m pytest -q"]),
    ({"tests/test_a.py": f"{MOCK}{TEST}"}, ["python3 -m pytest -q"]),
    ({"tests/test_a.py": TEST, "tests/sub/test_b.py": TEST}, ["python3 -m pytest -q"]),
    ({"tests/unit/core/test_a.py": MOCK}, ["python3 -m pytest -q"]),
    ({"tests/__pycache__/test_a.py": MOCK}, []),
    ({"test_a.py": "def test_a(): pass\n", "a.py": ""}, ["python3 -m pytest -q"]),
    ({"test_a.py": TEST, "a.py": ""}, ["python3 -m unittest"]),
    ({"a_test.py": TEST}, ["python3 -m pytest -q"]),
    ({"test_connection.py": "print('hello')\n"}, []),
    ({"test_a.py": MOCK, "tox.ini": "[tox]\n"}, ["tox -q"]),
    ({"manage.py": "import django\n", "shop/tests.py": TEST}, ["python3 manage.py test"]),
    ({"manage.py": "import click\n"}, []),
    ({"tox.ini": "[tox]\n"}, ["tox -q"]),
    ({"noxfile.py": ""}, ["nox"]),
    ({"Cargo.toml": "", "go.mod": ""}, ["cargo test", "go test ./..."]),
    ({"package.json/test": "a folder"}, []),
]


@pytest.mark.parametrize(("files", "commands"), FOUND)
def test_checks_are_found(tmp_path: Path, files: dict[str, str], commands: list[str]) -> None:
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    project = Project(tmp_path)
    assert found_checks(project) == commands
    project.close()


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("test:\n\ttrue\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/Makefile").symlink_to(tmp_path / "outside")
    project = Project(tmp_path / "project")
    assert found_checks(project) == []
    project.close()


def test_what_checks_are_made_of() -> None:
    assert is_part_of_checks("tests/test_a.py", is_new=False)
    assert is_part_of_checks("conftest.py", is_new=True)
    assert is_part_of_checks("Makefile", is_new=True)
    assert is_part_of_checks("src/a.test.ts", is_new=False)
    assert is_part_of_checks("unittest/__init__.py", is_new=True)
    assert is_part_of_checks("_pytest/runner.py", is_new=True)
    assert is_part_of_checks("unittest.py", is_new=True)
    assert is_part_of_checks("json.py", is_new=True)
    for path in (
        *("test.js", "run_tests.sh", "shop/tests.py", "src/SumTest.java", "sum_spec.rb", ".npmrc"),
        *("e2e/a.spec.ts", "vite.config.ts", ".cargo/config.toml", "rules.mk", ".pytest.ini"),
        *("spec/a.rb", "test_sum.c", "sum_test.dart", "eslint.config.js", ".eslintrc.json"),
    ):
        assert is_part_of_checks(path, is_new=False), path
    for path in ("src/latest.py", "contest.js", "inspect.ts", "src/checkout.py", "manifest.json"):
        assert not is_part_of_checks(path, is_new=False), path
    assert not is_part_of_checks("src/json.py", is_new=True)
    assert not is_part_of_checks("tests/test_a.py", is_new=True)
    assert not is_part_of_checks("src/a.py", is_new=False)
