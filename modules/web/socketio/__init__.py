"""Socket.IO: who is connected, and what they may ask.

- handlers  Socket.IO handlers: each calls the API of a session and answers with its result.
- rooms     Rooms of Socket.IO, made safe for threads: the clients, and the session that each
            follows.
"""

EXPORTS = {
    "handlers": ["SocketHandlers", "announce_shutdown"],
    "rooms": ["ThreadSafeManager"],
}
