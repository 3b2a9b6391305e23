"""Open sessions: what runs in each, what waits, and who is told of it.

- event_bus         Delivery: what happens in the sessions, to every page and program that listens.
- event_stream      The events of a session for programs, as they come: all of them, or those of one
                    command.
- follow_external   A session that another Onefold runs, read as it grows there.
- notifier          What is told of a session without being asked, and to whom.
- page_redaction    Secrets on the page: a person's browser sees their names, and what it saves has
                    their values.
- run_state         What a session's thread is at: one state, and what each thing that happens makes
                    of it.
- session_registry  All sessions of the project: which are open, and what can be done with those
                    that are not.
- session_runner    One open session: its terminal, the lines that wait for it, and the thread that
                    runs them.
- snapshot          What there is to see of a session: its state, and the events that lead to its
                    picture.
"""
