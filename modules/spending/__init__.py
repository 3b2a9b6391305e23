"""Spending: what tasks cost, before and after, and the caps and hours that the person sets.

- amounts         Amounts of money and times of day, as people say and read them.
- feature         The caps and hours of a session: asked before each step, told of all that is
                  spent.
- ledger          The ledger: what was spent when, by every session and process of a data folder.
- lineages        Lineages of the provider's cache: what it has of a session for each effort of
                  thinking.
- mask_gain       The gain of leaving old answers of tools out of requests, against what is read
                  anew for it.
- masked_answers  Old, large answers of tools left out of requests, once that pays for what is read
                  anew.
- past_tasks      What past tasks of a project cost, and what the next one may cost by them.
- think_once      Think-once, done knowingly: what a switch of mode costs, and which way to think is
                  cheaper.
- thinking_costs  What thinking costs in a session: what a switch has read anew, and which way is
                  cheaper.
- ways            The two ways of a task to think, weighed: which one costs less, by what tasks
                  really cost.
"""

EXPORTS = {
    "amounts": ["amount"],
    "feature": ["Spending"],
    "ledger": ["Ledger"],
    "masked_answers": ["MaskedAnswers"],
    "past_tasks": ["PastTasks"],
    "think_once": ["ThinkOnce"],
}
