"""Onefold in Harbor, the runner of Terminal-Bench: the agent, its trajectory, and an environment.

agent        `OnefoldAgent`: installed in the environment of a task, and run there.
shell        The commands of that, as text; nothing of Harbor.
atif         What `onefold -p` printed, as a trajectory in ATIF; nothing of Harbor.
bubblewrap   `BubblewrapEnvironment`: tasks on this machine, where there is no Docker.
container    The container below it: a root folder, a process that holds it; nothing of Harbor.
dockerfile   The part of a Dockerfile that it can follow; nothing of Harbor.
"""
