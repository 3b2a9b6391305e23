# The same commands as .ci/run, for daily use.
.PHONY: check test lint types bench constraints

check: test lint types

test:
	python3 -m tests

lint:
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .

types:
	.venv-dev/bin/mypy .

bench:
	.venv-dev/bin/python -m tests.bench

constraints:
	python3 tools/constraints.py
