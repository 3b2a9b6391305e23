"""Spending: what tasks cost, before and after, and the caps and hours that the person sets.

- amounts     Amounts of money and times of day, as people say and read them.
- feature     The caps and hours of a session: asked before each step, told of all that is spent.
- ledger      The ledger: what was spent when, by every session and process of a data folder.
- lineages    Lineages of the provider's cache: what it has of a session for each effort of
              thinking.
- past_tasks  What past tasks of a project cost, and what the next one may cost by them.
- think_once  Think-once, done knowingly: what a switch of mode costs, and which way to think is
              cheaper.
- ways        The two ways of a task to think, weighed: which one costs less, by what tasks really
              cost.
"""

EXPORTS = {
    "feature": ["Spending"],
    "ledger": ["Ledger"],
    "past_tasks": ["PastTasks"],
    "think_once": ["ThinkOnce"],
}
