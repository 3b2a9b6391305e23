"""The conversation: its records, what of them is sent, and how it is kept.

- citation_marks   Marks of citations in a text: `[2]` in its words, and nothing that only looks
                   like one.
- citations        Citations: the sources that a task has read, by number, and those that its answer
                   names.
- compaction       Making room in a long conversation: older turns give way to a digest that the
                   model writes.
- context_updates  Context beside the conversation: sent once, and again only where it changed.
- context_window   The model's window: how full it is, and how room is made in it.
- delivery         Delivery of events to screens that are elsewhere: numbered, in order, kept for
                   who comes late.
- deltas           Deltas that follow each other closely, as one.
- event_log        The newest packets of a session, for browsers that come back.
- figures          Figures of what was spent: tokens, cache hits and cost, by turn, session, day and
                   model.
- helper_records   Records of helpers: turns that ran inside a call, kept in the log of the session
                   that made it.
- history          The conversation kept whole: what was said, what it makes as a request, what is
                   still open.
- message_queue    The messages that wait in a session: each is kept with it until what came of it
                   is kept.
- messages         The conversation as data: what was said, what was called, what came back.
- proof            Proof of a task: what was run, which state of the files that stands for, and what
                   is claimed.
- request_prefix   The beginning of requests: each is the one before and more, but where something
                   is named for it.
- result_texts     Texts that tell a model how a call ended, where its tool did not say so. They
                   stay in sessions.
- store            Interface of a place that keeps sessions; `modules.sessions` is the one on disk.
- transcript       A session as the fewest events that lead to its picture, for screens that come
                   late.
- turn_progress    How far a turn is, read off its records: whether it is over, whoever runs it.
"""

EXPORTS = {
    "citation_marks": ["link_to", "marked", "with_links"],
    "citations": ["Citation", "Citations", "citations_of", "sources_of"],
    "compaction": ["CALL_PREFIX", "PERSON_PREFIX", "TURN_HEADING", "render_turn"],
    "context_updates": ["context_diff"],
    "context_window": ["ContextWindow", "record_tokens"],
    "delivery": ["Delivery"],
    "event_log": ["LogTruncated"],
    "figures": ["By", "Spent", "figures_by", "figures_card"],
    "helper_records": [
        "HELPER",
        "HelperRecords",
        "helper_record",
        "helpers_in",
        "nested_call_id",
        "open_calls",
        "records_of_open_helper",
        "unwrapped",
        "with_helpers_calls",
    ],
    "history": [
        "ASKED",
        "CHECKING",
        "History",
        "INCIDENT",
        "INTERRUPTED",
        "MASKED",
        "NATIVE_FAILURES",
        "QUESTION",
        "QUEUE",
        "RESULTS_TRUNCATED",
        "REWIND_UNDONE",
        "REWOUND",
        "SPENT",
        "SUMMARY",
        "TurnRecord",
        "check_in",
        "effective_records",
        "lost_result",
        "question_in",
        "repaired",
        "usage_in",
        "usage_record",
    ],
    "message_queue": ["Conversation", "MessageQueue", "NOTHING_WAITS", "QueuedMessage"],
    "messages": [
        "Assistant",
        "Context",
        "Effort",
        "MEMORY_MARKS",
        "READ_PREFIX",
        "Record",
        "ResultState",
        "SHELL_ESCAPE",
        "ShellResult",
        "StateRecord",
        "ToolCall",
        "ToolResult",
        "User",
        "Wire",
        "as_message",
        "shell_escape_name",
    ],
    "proof": [
        "ChecksResult",
        "Claim",
        "Ground",
        "NOT_THERE",
        "GreyReason",
        "NO_PROOF",
        "PROOF",
        "Proof",
        "Receipt",
        "ReceiptState",
        "proof_in",
        "proofs_in",
    ],
    "request_prefix": ["PREFIX_BREAK", "PrefixBreak", "PrefixWatch", "Request"],
    "result_texts": [
        "DENIED_PREFIX",
        "FAILED_PREFIX",
        "INTERRUPTED_TEXT",
        "NOT_RUN_PREFIX",
        "NOT_RUN_TEXT",
        "NO_ANSWER_PREFIX",
        "REFUSED_PREFIX",
        "REVISED_PREFIX",
        "REVISED_RESULT",
        "ROLLED_BACK_PREFIX",
        "STOPPED_TEXT",
    ],
    "store": ["SessionInfo", "SessionMatch", "Store"],
    "transcript": [
        "Packet",
        "Transcript",
        "is_turn_end",
        "replay_events",
        "replay_helper",
        "turn_end_in",
        "turn_end_record",
    ],
    "turn_progress": ["is_turn_over", "newest_turn", "turn_end_of", "turns_backward"],
}
