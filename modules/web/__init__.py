"""The browser screen: pages, sockets and the API around the terminals of open sessions.

- api/       The API by subject: what a page or a program can ask for.
- files/     The files of the project as the page shows, reads and writes them.
- http/      HTTP: the routes and their arguments, who may come in, and errors.
- servers/   The two HTTP servers behind one face, and their limits.
- sessions/  Open sessions: their runners and queues, and the delivery of their events.
- socketio/  Socket.IO: who is connected, and what they may ask.
- embedding  Pictures embedded in an exported page, which loads nothing from anywhere.
- server     Assembly of the browser screen, and its server.
"""

EXPORTS = {
    "server": ["ServerConfig", "serve"],
    "servers.bind": ["BindAddress"],
    "servers.http_servers": ["load_libraries"],
}
