"""The servers of models: those on this machine, and what is learnt of each.

- local_servers    OpenAI-compatible servers on this very machine: found by their ports, used after
                   a real probe.
- server_profiles  Profiles of the servers of models: learnt from them, or said in the settings.
"""

EXPORTS = {
    "local_servers": ["LocalServer", "check_tools", "find_servers"],
    "server_profiles": ["ServerProfiles"],
}
