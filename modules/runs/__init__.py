"""Runs of programs, around the tools for them: what is watched, and what is told of them.

- approval_reasons  Why a run is asked about: a weak sandbox, the network, another Python.
- call_seconds      The seconds of a run that the settings allow, in the schema of its tool.
- failure_hints     What a run that failed seems to have lacked: the network, the system, a login.
- run_texts         How a run ended and what it did to the files, for the model and for people.
- run_watch         The folder of the project while programs work in it: what changed, and its
                    repositories.
- sandbox_status    The sandbox in `/status`: what it lacks, what it shows, and its limits.
"""

EXPORTS = {
    "approval_reasons": ["network_reason", "other_python", "weak_sandbox_reason"],
    "call_seconds": ["with_seconds"],
    "failure_hints": ["failure_hints"],
    "run_texts": [
        "CHANGES_UNKNOWN",
        "FILES_PREFIXES",
        "NO_OUTPUT",
        "RUN_LATER_PREFIX",
        "STOPPED_RUN_PREFIX",
        "SUCCESS_PREFIX",
        "describe_changes",
        "ending_for_model",
        "ending_for_person",
    ],
    "run_watch": ["RunWatch"],
    "sandbox_status": ["sandbox_status"],
}
