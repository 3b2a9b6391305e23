"""The two HTTP servers behind one face, and their limits.

- bind              The address that the server binds to, and the host names of it.
- event_loop        Event loops for the two async modes: the thread of the sockets, and work kept
                    out of it.
- eventlet_server   HTTP server of eventlet: all connections in one thread, the event loop's.
- http_limits       Limits of both HTTP servers, and malformed requests that they refuse to read.
- http_servers      The two HTTP servers behind one interface, and the event loop of each.
- threading_server  The HTTP server of Werkzeug, with a thread for each connection.
- tls_front         TLS in front of either HTTP server: ends it here, and passes on what comes to a
                    loopback port.
- websocket_limits  Limits of the WebSockets below Socket.IO, in both async modes, and a way to cut
                    one.
"""

EXPORTS = {
    "bind": ["BindAddress"],
    "event_loop": ["Empty", "EventLoop", "LoopQueue"],
    "http_servers": ["make_server"],
    "tls_front": ["TlsFront"],
    "websocket_limits": [
        "MAX_MESSAGE_BYTES",
        "PING_SECONDS",
        "abort_connection",
        "end_connection",
        "install",
        "is_behind",
    ],
}
