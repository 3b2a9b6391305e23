"""A terminal that joins a running server: the same session, in another process.

- attached_prompt   The prompt of a terminal that joined a running server: it gives way when
                    something happens.
- client            A terminal that joins a running server: the page's session, in its own process.
- given_pictures    Pictures that a line typed in an attached terminal names: given to the session
                    on the server.
- http              The way to a running browser server, for the terminal that joins it. See
                    docs/protocol.md.
- listener          Listener for the events of a running server's session, in a thread of its own.
- packet_reader     Readers of a session's packets: its turns, its calls, who sent what.
- remote_approvals  The questions of a session that runs elsewhere, asked at this terminal too.
- unsent            Lines that wait in the queue of a server to be sent by somebody, as they stand
                    in ours.
"""
