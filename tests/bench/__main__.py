"""Run every benchmark, one after the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

for path in sorted(HERE.glob("bench_*.py")):
    sys.stdout.write(f"\n{path.stem}\n")
    sys.stdout.flush()
    subprocess.run(
        [sys.executable, "-m", f"tests.bench.{path.stem}"], cwd=HERE.parents[1], check=False
    )
