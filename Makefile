# The same commands as .ci/run, for daily use.
.PHONY: check test lint types bench campaign constraints pictures wheel pyz

check: test lint types

test:
	python3 -m tests

lint:
	.venv-dev/bin/ruff check .
	.venv-dev/bin/ruff format --check .

types:
	.venv-dev/bin/mypy .
	.venv-dev/bin/mypy --platform darwin .
	.venv-dev/bin/mypy --platform win32 main.py tools/packaging/onefold

bench:
	.venv-dev/bin/python -m tests.bench

campaign:
	.venv-dev/bin/python -m tests.campaign

constraints:
	python3 tools/constraints.py

depth-points:
	.venv-dev/bin/python -m tools.depth_points

pictures:
	.venv-dev/bin/python -m tools.pictures

wheel: .venv-dev/bin/python
	.venv-dev/bin/python -m hatchling build

pyz: .venv-dev/bin/python
	.venv-dev/bin/python -m tools.packaging.pyz

.venv-dev/bin/python:
	python3 -m tests --version
