"""The project's checks: found, run at the end of tasks, with receipts and claims held against them

- check_list    The check commands of a project: said in the settings or by `/check`, or found in
                its files.
- claims        Claims of an answer: what it says was run or holds, told by rule.
- commands      Commands of checks: which are the same, and which exit codes prove anything.
- cut_short     Turns that came to no end, so that nothing checked what they did.
- exit_codes    Exit codes of checks: which say that a project is not right, and which say nothing
                of it.
- feature       Checks of a project: run at the end of a task that changed files, and by hand.
- finding       Finding the checks that a project names in its own files.
- good_ends     Good ends: clauses that name a check and tell something good of it.
- kept_checks   Check commands as a project keeps them, until the person says others.
- other_senses  Words of checks in another sense: a test that passes a list to a function.
- parse_files   Looking at files without running them; this file runs in the sandbox.
- proving       Holding claims against receipts: what each rests on, by rule and never by the
                model's word.
- receipt_texts Receipts in words, the same on every screen.
- receipt_watch Watch on the files that receipts rest on: who waits at a prompt is told when one
                changes.
- receipts      Receipts: what was run, and whether the files are still as they were then.
- run_scopes    Scopes of test runs: of which part of a project a run tells.
- syntax        The syntax and the imports of what a task changed.
- task_receipts Receipts of the task that goes on: what each call began from and left, and what was
                changed.
"""

EXPORTS = {
    "feature": ["Checks"],
    "finding": ["found_checks"],
    "kept_checks": ["KeptChecks"],
    "receipt_texts": ["outdated_text", "state_text"],
    "receipt_watch": ["ReceiptWatch"],
    "receipts": ["ListedFiles", "Tree", "TreeStates", "runs_in"],
    "syntax": ["problems_of"],
}
