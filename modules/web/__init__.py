"""The browser screen: pages, sockets and the API around the terminals of open sessions.

- api/       The API by subject: what a page or a program can ask for.
- files/     The files of the project as the page shows, reads and writes them.
- http/      HTTP: the routes and their arguments, who may come in, and errors.
- servers/   The two HTTP servers behind one face, and their limits.
- sessions/  Open sessions: what runs in each, what waits, and who is told of it.
- socketio/  Socket.IO: who is connected, and what they may ask.
- embedding  The pictures that an exported page bears in itself: it asks nobody for any.
- server     The browser screen put together, and served.
"""
