"""A terminal that joins a running server: the same session, in another process.

- attached_prompt   The prompt of a terminal that joined a running server: it gives way when
                    something happens.
- client            The terminal as a twin of the page: the same session, live, in another process.
- given_pictures    Pictures that a line typed in an attached terminal names: given to the session
                    on the server.
- http              The way to a running browser server, for the terminal that joins it. See
                    docs/protocol.md.
- listener          What happens in a session of a running server, heard in a thread of its own.
- packet_reader     What can be read from the packets of a session: its turns, its calls, who sent
                    what.
- remote_approvals  The questions of a session that runs elsewhere, asked at this terminal too.
- unsent            Lines that wait in the queue of a server to be sent by somebody, as they stand
                    in ours.
"""
