"""The screen of editors: the Agent Client Protocol (ACP) on standard input and output.

The official SDK speaks it; `agentclientprotocol.com` defines it. The event loop of the SDK is in
the main thread, and each turn in a thread of its own, which shows its events as updates.

- terminals/      Terminals of the client, where it has some, which show the programs that a session
                  runs.
- updates/        Updates of a turn: what a client is told of each event of it, in the words of the
                  protocol.
- agent           The agent of the protocol: what a client may ask of it, each request answered
                  once.
- authentication  How a client may get the person to a key: by hand, by a variable, in a terminal.
- client_link     The client as the threads of turns see it: what is shown to it, and what it is
                  asked.
- editor_files    The files of a session as the editor has them: what it shows, and what it is to
                  show.
- given_servers   MCP servers that a client gives a session, as a file of the person's would have
                  them.
- open_sessions   The sessions that a client has open, and the projects that they are of.
- options         What a client lets the person choose in a session: modes, options and slash
                  commands.
- prompts         A prompt of the protocol as a message: its text, its pictures, and what it refers
                  to.
- questions       Questions as the protocol asks them: the options of each, and the reply that one
                  stands for.
- server          `acp`: one client on standard input and output, until it goes away.
- session         One open session: its terminal, and the thread in which a prompt runs.
- session_view    What a client is shown of a session beside its turns: history, options, commands.
- transport       Lines of JSON as the SDK's connection wants them.
- write_gate      Gate between an editor's write and the turns of other sessions in the same files.
"""

EXPORTS = {
    "authentication": ["LOGIN_OPTION"],
    "open_sessions": ["ProjectAccess", "Workplace"],
    "server": ["serve"],
}
