"""Evaluation of agents on public exercises and on issues of repositories: `python3 -m tests.eval`.

- agents     Agents: command lines with places for the task, ours among them.
- exercises  Exercises in Exercism's layout, as in the polyglot benchmark.
- issues     Issues of repositories in SWE-bench's layout; what is solved goes to `preds.json`.
- judge      The judge: runs tests on what a model wrote, in the sandbox.
- languages  Languages of exercises: how their tests are run, and which files of theirs count.
- page       The page of results, whole in one file.
- results    Results on disk, a line for each attempt.
- runner     The runner: who attempts what, side by side, and what is left after an interruption.
- summary    What the results come to, for each agent.
- tasks      What a task is, and a folder that an agent worked in, read safely.
- wire       The wire of an attempt: a proxy that counts tokens.

The oracle is ours with a scripted model that knows the exercises' own solutions.
"""
