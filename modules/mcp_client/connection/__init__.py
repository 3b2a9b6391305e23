"""Connections to servers: their programs and addresses, and what comes of a request.

- connection    Connection to a server with the official SDK, which is loaded with it.
- launcher      Start of a server's program, in the sandbox unless the person says otherwise.
- pending_call  A request to a server that a turn waits for, and what comes of it on the way.
- program       A server's program: started in the sandbox, its lines, its floods ended.
- questions     What a server wants to know of the person, put as questions of ours.
- transports    The streams of a program, and those of a server behind an address.
"""

EXPORTS = {
    "connection": ["Connection"],
    "launcher": ["Launcher"],
    "pending_call": ["Channel", "PendingCall"],
}
