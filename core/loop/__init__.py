"""The loop: one turn from the message to the last word, and who must be asked on the way.

- approval        Approval policy: which calls need the person's yes.
- approval_flow   The question before a call: what it shows, what may be answered, what the model
                  reads of it.
- loop_detection  Loop detection: a small memory of the calls of a turn, to break loops.
- nudges          Asking a model once more whose reply did nothing, though it seems to mean to do
                  something.
- response        One reply of the model: streamed, put together, and recorded.
- shell_escape    The shell escape: `!COMMAND` is run as the person's own, `!!COMMAND` unknown to
                  the model.
- thinking        Think-once: which step thinks, and how what it concluded reaches the steps that do
                  not.
- tool_calls      Running the calls of a reply: approval, the tool itself, its outcome, and one
                  result each.
- turn            One turn: from a person's message to the model's last word.
- turn_context    Requirements of a turn on its surroundings: a model to ask, and a terminal to live
                  in.
"""

EXPORTS = {
    "approval": [
        "AlwaysAskReason",
        "Approval",
        "ApprovalMode",
        "KeptApproval",
        "MODES",
        "NO_BACKGROUND_OUTSIDE",
        "PACKAGES",
        "PackagesReason",
        "stricter",
    ],
    "approval_flow": ["arguments_preview", "format_arguments", "resolve_approval"],
    "response": ["to_tool_call"],
    "shell_escape": ["ShellEscape", "run_shell_escape"],
    "thinking": ["Mode", "conclusion_in"],
    "tool_calls": ["notices"],
    "turn": ["PausedTurn", "drive", "run_turn"],
    "turn_context": ["Model", "Turn"],
}
