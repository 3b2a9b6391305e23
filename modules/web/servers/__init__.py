"""The two HTTP servers behind one face, and their limits.

- bind              Where to serve, and under which names.
- event_loop        The two ways to serve, behind one face: where sockets live, and what must stay
                    away from there.
- eventlet_server   The HTTP server of eventlet: all connections in one thread, the hub's.
- http_limits       What both HTTP servers have in common: limits, and what requests they refuse to
                    read.
- http_servers      The two HTTP servers behind one face, and the hub that goes with each.
- threading_server  The HTTP server of Werkzeug, with a thread for each connection.
- unauthenticated   The connections that have shown no proof yet: they have few places, and the
                    oldest gives way.
- websocket_limits  The WebSockets below Socket.IO: limited in both async modes, and able to be cut.
"""
