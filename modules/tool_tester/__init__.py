"""The tool tester: a call as a model writes it, run, looked at, kept and run again.

- call_text  Calls in a text that somebody pasted: read as a protocol reads a model's reply, or as
             JSON.
- cases      Regression cases: runs kept with what came of them, to be run again and compared.
- scratch    Scratch folders: each an empty project for one run of the tester, gone afterwards.
- tester     The tester: runs the calls of a text with the real tools, approval and sandbox, and
             asks no model.
"""

EXPORTS = {
    "cases": ["ToolCases", "rerun"],
    "tester": ["PendingRun", "Place", "ToolRun", "ToolTester"],
}
