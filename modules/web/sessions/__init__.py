"""Open sessions: their runners and queues, and the delivery of their events.

- event_bus         Event bus: delivers the events of sessions to every page and program that
                    subscribes.
- event_stream      Event streams of a session for programs: all events, or those of one command.
- follow_external   Follower of a session that another Onefold runs, reloaded as it grows there.
- notifier          Notifications about a session: its events, state, row and changed files.
- page_redaction    Redaction for the page: a browser sees placeholders; files that it saves have
                    the values.
- run_state         State machine of the thread of a session: its states, its events, and which
                    leads where.
- session_registry  Registry of the project's sessions: those that are open, and access to all
                    others.
- session_runner    One open session: its terminal, its queue of messages, and the thread that runs
                    them.
- snapshot          Snapshot of a session: its state, and the events that rebuild what a screen
                    shows.
"""

EXPORTS = {
    "event_bus": ["EventBus", "MAX_LAG", "room_name"],
    "event_stream": ["session_stream", "turn_stream", "until_end", "with_event_ids"],
    "notifier": ["MessageKind", "OnError", "Publish"],
    "page_redaction": ["PageRedactor"],
    "session_registry": ["SessionRegistry"],
    "session_runner": ["MAX_MESSAGE_LENGTH", "QueueOperation", "SessionRunner", "TerminalFactory"],
}
