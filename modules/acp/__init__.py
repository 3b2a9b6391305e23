"""The screen of editors: the Agent Client Protocol (ACP) on standard input and output.

The official SDK speaks it; `agentclientprotocol.com` defines it. The event loop of the SDK is in
the main thread, and each turn in a thread of its own, which shows its events as updates.

- agent           The agent of the protocol: what a client may ask of it, each request answered
                  once.
- authentication  How a client may get the person to a key: by hand, by a variable, in a terminal.
- calls           Calls of tools as a client shows them: their kind, their files and their content.
- client_link     The client as the threads of turns see it: what is shown to it, and what it is
                  asked.
- editor_files    The files of a session as the editor has them: what it shows, and what it is to
                  show.
- given_servers   MCP servers that a client gives a session, as a file of the person's would have
                  them.
- live_text       Output of a program made harmless while it comes, for a terminal that is not ours.
- open_sessions   The sessions that a client has open, and the projects that they are of.
- options         What a client lets the person choose in a session: modes, options and slash
                  commands.
- prompts         A prompt of the protocol as a message: its text, its pictures, and what it refers
                  to.
- questions       Questions as the protocol asks them: the options of each, and the reply that one
                  stands for.
- run_terminal    One run in a terminal of the client's, which shows it through a socket and runs
                  nothing.
- run_terminals   The terminals of a client, where it has some, for the programs that a session
                  runs.
- run_viewer      Viewer of a run, for the terminal of a client: it shows what comes, and runs
                  nothing itself.
- server          `acp`: one client on standard input and output, until it goes away.
- session         One open session: its terminal, and the thread in which a prompt runs.
- session_view    What a client is shown of a session beside its turns: history, options, commands.
- transport       Lines of JSON as the SDK's connection wants them.
- turn_end        The end of a turn as Markdown: the sources that its answer names, and what was
                  run.
- updates         Events of a turn as updates of the protocol.
"""

EXPORTS = {
    "authentication": ["LOGIN_OPTION"],
    "open_sessions": ["ProjectAccess", "Workplace"],
    "server": ["serve"],
}
