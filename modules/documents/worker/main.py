"""Works on one document in a process of its own that can do nothing else.

Started by `modules.documents.worker_process` as `python -m modules.documents.worker.main LIBRARIES
JOB KIND`: the message for the job on standard input, the answer on standard output, or `{"error"}`
with what belongs into its sentence.
"""

from __future__ import annotations

import sys
import warnings

from modules.documents.worker.problems import Problem
from modules.documents.worker_messages import Message, decode, encode
from utils.system.confinement import confine

_MAX_CPU_SECONDS = 60


def main(libraries: str, job: str, kind: str) -> None:
    sys.path.append(libraries)
    warnings.simplefilter("ignore")  # of the libraries, about what is odd in a file
    from modules.documents.worker.jobs import prepare

    request = decode(sys.stdin.buffer.read())
    try:
        run = prepare(job, kind, request)
        confine(max_cpu_seconds=_MAX_CPU_SECONDS)
        answer = run()
    except Problem as problem:
        answer = Message({"error": problem.code, **problem.values})
    except MemoryError:
        answer = Message({"error": "memory"})
    # A library raises whatever a damaged file makes it stumble over; only this document is lost.
    # Where there is no file of others the fault is ours.
    except Exception:
        if job == "make" and not request.values["has_template"]:
            raise
        answer = Message({"error": "template" if job == "make" else "damaged"})
    sys.stdout.buffer.write(encode(answer))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
