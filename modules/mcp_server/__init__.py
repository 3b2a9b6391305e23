"""The screen of programs: the Model Context Protocol (MCP) on standard input and output.

The official SDK speaks it; `modelcontextprotocol.io` defines it. The event loop of the SDK is in
the main thread, and the calls of a client are in one thread of their own, one after the other.

- calls          A call of a client: between the event loop, which answers it, and the thread that
                 runs it.
- handlers       What a client may ask of the server, each request answered once.
- offered_tools  Tools as the protocol lists them, with what their declarations say of their risk.
- own_tools      The tools that only clients have: whole tasks, and undo, which a person types
                 elsewhere.
- questions      Questions as forms of the protocol (elicitation), and the reply that a filled one
                 stands for.
- results        Results of calls and tasks as the protocol has them.
- server         `mcp`: one client on standard input and output, until it goes away.
- session        The session of a client: its calls, one after the other, in a thread of their own.
- transport      Lines of JSON as the streams that the SDK's server reads and writes.
"""

EXPORTS = {
    "server": ["serve"],
    "session": ["Workplace"],
}
