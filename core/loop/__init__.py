"""The loop: one turn from the message to the last word, and who must be asked on the way.

- approval        Approval policy: which calls need the person's yes.
- approval_flow   The question before a call: what it shows, what may be answered, what the model
                  reads of it.
- calls_at_once   Calls of one reply that run at once: each in a thread of its own, their events in
                  one row.
- current_question
                  The question that a session asks now, which may be answered elsewhere than on its
                  own screen.
- depth           Depth of a task: how much of a model's work it gets, and what the model is told of
                  that.
- direct_calls    Calls without a model, which a person or a program makes of tools: in a turn of
                  their own.
- failed_step     What the person decides where a task would end: about a step that failed, and
                  about a plan.
- hook_runs       Hooks of the person's and the project's: run around calls and at the end of a
                  task.
- loop_detection  Loop detection: a small memory of the calls of a turn, to break loops.
- nudges          Asking a model once more whose reply did nothing, though it seems to mean to do
                  something.
- plan_end        The end of a task in plan mode: its answer is kept as the plan, and the person
                  says yes to it.
- project_checks  The project's checks at the end of a task that changed files: run by the system,
                  not the model.
- prompt_command  A command of the person's or the project's own, run: its programs first, then its
                  task.
- questions       Questions of features beside the calls: put to the person before the model is
                  asked.
- response        One reply of the model: streamed, put together, and recorded.
- shell_escape    The shell escape: `!COMMAND` is run as the person's own, `!!COMMAND` unknown to
                  the model.
- spending        What a step costs, seen to before it is made: caps, dear hours, and what is said
                  of them.
- thinking        Think-once: which step thinks, how hard, and how its conclusion reaches those that
                  do not.
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
        "ApprovalReason",
        "KeptApproval",
        "MODES",
        "NO_BACKGROUND_OUTSIDE",
        "OutsidePolicy",
        "PACKAGES",
        "PackagesReason",
        "stricter",
    ],
    "approval_flow": ["arguments_preview", "format_arguments", "refusal", "resolve_approval"],
    "current_question": ["AskedNow", "CurrentQuestion"],
    "depth": ["Depth", "Route", "STANDARD"],
    "direct_calls": ["DirectContext", "run_direct_calls", "run_message_calls"],
    "prompt_command": ["run_prompt_command"],
    "response": ["to_tool_call"],
    "shell_escape": ["ShellEscape", "run_shell_escape"],
    "thinking": ["Mode", "Way", "conclusion_in"],
    "tool_calls": ["ApprovalTimer", "FinishedCall", "notices", "numbered", "question_event"],
    "turn": ["PausedTurn", "drive", "run_turn"],
    "turn_context": ["Model", "Turn"],
}
