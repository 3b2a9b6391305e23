"""Spending: what tasks cost, before and after, and the caps and hours that the person sets.

- feature     The caps and hours of a session: asked before each step, told of all that is spent.
- ledger      The ledger: what was spent when, by every session and process of a data folder.
- past_tasks  What past tasks of a project cost, and what the next one may cost by them.
"""

EXPORTS = {
    "feature": ["Spending"],
    "ledger": ["Ledger"],
    "past_tasks": ["PastTasks"],
}
