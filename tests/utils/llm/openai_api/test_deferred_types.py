"""The package `openai`, loaded without its types: all of them are still to be had."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
LOADS = """
import json, sys, threading
from utils.llm.openai_api.deferred_types import TYPE_LISTS, deferred_types

with deferred_types():
    import openai
few = sum(name.startswith("openai.types") for name in sys.modules)
client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9")
unloaded = [name for name in TYPE_LISTS if len(vars(sys.modules[name])) > 100]

found, gate = [], threading.Barrier(4)
def ask():
    gate.wait()
    found.append(openai.types.Model)
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

from openai.types.model import Model
from openai.types.responses import Response
from openai.types.responses.response import Response as Same
missing = hasattr(openai.types, "Nonsense")
print(json.dumps([few, unloaded, found == [Model] * 4, Response is Same, missing,
                  hasattr(openai.types, "__getattr__"), len(sys.meta_path)]))
"""


def test_the_types_of_openai_are_loaded_when_one_is_asked_for() -> None:
    plain = [sys.executable, "-c", "import sys; print(len(sys.meta_path))"]
    finders = int(subprocess.run(plain, capture_output=True, check=True, text=True).stdout)
    told = subprocess.run(
        [sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, check=True, timeout=300
    )
    few, unloaded, *rest = json.loads(told.stdout)
    assert few < 150  # of some 470
    assert unloaded == []
    assert rest == [True, True, False, False, finders]
