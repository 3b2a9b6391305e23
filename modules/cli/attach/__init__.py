"""A terminal that joins a running server: the same session, in another process.

- attached_prompt   The prompt of a terminal that joined a running server: it gives way when
                    something happens.
- client            A terminal that joins a running server: the page's session, in its own process.
- connection_state  State machine of the connection to a session on a server: its states, and which
                    leads where.
- followed_session  A session on a server as far as it is known here: what it told, and what was
                    sent to it.
- http              The way to a running browser server, for the terminal that joins it. See
                    docs/protocol.md.
- listener          Listener for the events of a running server's session, in a thread of its own.
- packet_reader     Readers of a session's packets: its turns, its calls, who sent what.
- remote_approvals  The questions of a session that runs elsewhere, asked at this terminal too.
- remote_choice     Commands that are typed alone to a running server, with what is chosen for them
                    from a list.
- sent_messages     Messages to a session on a server, each with the pictures that it names.
- remote_checks     The checks of a session that runs elsewhere: told at this terminal once they
                    stand no more.
- server_sessions   The sessions of a running server, found and begun from a terminal that joins it.
- unsent            Lines that wait in the queue of a server to be sent by somebody, as they stand
                    in ours.
"""
