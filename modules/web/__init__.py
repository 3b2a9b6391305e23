"""The browser screen: pages, sockets and the API around the terminals of open sessions.

- api/           The API by subject: what a page or a program can ask for.
- files/         The files of the project as the page shows, reads and writes them.
- http/          HTTP: the routes and their arguments, who may come in, and errors.
- pairing/       Which phones and other devices may use a server that others on the network reach.
- servers/       The two HTTP servers behind one face, and their limits.
- sessions/      Open sessions: their runners and queues, and the delivery of their events.
- socketio/      Socket.IO: who is connected, and what they may ask.
- embedding      Pictures embedded in an exported page, which loads nothing from anywhere.
- login_links    Login links of a server, printed in its terminal at its start and at each Enter.
- remote_access  The way in for others on the network: TLS by our own certificate, for paired
                 devices only.
- server         Assembly of the browser screen, and its server.
"""

EXPORTS = {
    "server": ["ServerConfig", "serve"],
    "servers.bind": ["BindAddress"],
    "servers.http_servers": ["load_libraries"],
}
