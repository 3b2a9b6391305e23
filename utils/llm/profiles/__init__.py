"""Profiles of servers: what each takes, learnt from its refusals, a probe and its counts.

- probe             Probe of a server for a model's properties: its window, its longest reply,
                    vision.
- refusals          Parser of refusals: the part of a request that a server does not take.
- server_knowledge  Knowing a model's server: by its API, by what it refused, and by a look at what
                    it says.
- server_profile    Profile of a server, the shape of requests that it takes for one model; and a
                    store of them.
- silent_cut        Noticing a server that leaves out, without a word, what does not fit its window;
                    Ollama does.
"""

EXPORTS = {
    "refusals": ["Refusal", "adapted_profile", "error_strings"],
    "server_profile": ["CacheFigures", "CallContent", "ServerProfile", "USUAL_PROFILE"],
}
