"""llama.cpp's own server, in the Python that has xllamacpp: MODEL.gguf PORT THREADS [text].

With *text* it parses no calls: what the model writes comes as it is. Prints its address once it
listens, and serves until its standard input ends.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

WINDOW = 16_384
"""Tokens; a model's default is often far more than a small computer has room for."""


def main(model: str, port: str, threads: str, way: str = "native") -> None:
    xllamacpp: Any = import_module("xllamacpp")
    wanted = xllamacpp.CommonParams()
    wanted.model.path = model
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = int(port)
    wanted.n_ctx = WINDOW
    wanted.n_parallel = 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = int(threads)
    wanted.use_jinja = True
    wanted.warmup = False
    wanted.force_pure_content_parser = way == "text"
    server = xllamacpp.Server(wanted)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
