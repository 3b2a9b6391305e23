"""Input of the person: the prompt, keys and lines during a turn, answers to questions.

- approval_input     Approval by the person at the keyboard.
- entered_text       Text of the line where a person types, told apart from text that was pasted
                     into it.
- folded_pastes      Long pastes in the line: each is one character of it, shown as a few words, and
                     sent whole.
- input_history      Lines typed at the prompt in earlier sessions, kept without secrets.
- keyboard           The keyboard while no prompt is open: nothing is echoed, and single keys can be
                     read.
- line_completion    Completion of the prompt: commands at its beginning, paths of the project
                     behind an @.
- line_keys          The keys of the line where a person types: the usual ones, and those that the
                     settings change.
- pending_lines      The lines entered while a turn runs: in the queue of the session until they are
                     sent.
- picked_line        Commands that are typed alone, with what is chosen for them from a list.
- picker             A list below which one types to narrow it: arrows choose, Enter takes, Esc
                     leaves.
- plain_lines        Lines of a terminal that nothing is drawn on twice: the plain mode, for screen
                     readers.
- prompt             The line where a person types: history, completion, several lines, and what
                     holds right now.
- startup_questions  The questions before there is a screen: one line each, in the language of the
                     person.
- status_line        The line below the prompt: what holds right now.
- theme_colors       The colors of a theme for what prompt_toolkit draws.
- typeahead          Type-ahead while a turn runs: commands that need not wait are run, the rest is
                     kept.
- typed_keys         The keys that count at any time, also while a task runs or asks.
- typed_line         The line that a person types while no prompt is open, edited as the prompt
                     would edit it.
- viewer             A long text on the whole screen: scrolled, searched, and gone without a trace
                     when left.
"""

EXPORTS = {
    "approval_input": [
        "Approver",
        "KeyboardApprover",
        "MAX_PATTERN_CELLS",
        "ApprovalQuestion",
        "choices",
        "wait_for_reply",
    ],
    "entered_text": ["entered_text"],
    "input_history": ["open_history"],
    "keyboard": ["TypedAhead", "no_echo"],
    "line_completion": ["LineCompleter"],
    "pending_lines": ["PendingLines"],
    "picked_line": [
        "mode_picker",
        "model_picker",
        "picked",
        "picked_line",
        "theme_picker",
    ],
    "plain_lines": ["LineApprover", "PlainLines"],
    "prompt": ["Prompt"],
    "startup_questions": ["ask_choice", "ask_text", "ask_yes_no", "is_interactive"],
    "status_line": ["status_line", "status_line_of"],
    "typed_keys": ["ESCAPE", "TypedKeys"],
    "typeahead": ["TypeAheadListener"],
    "viewer": ["ViewLine", "Viewer"],
}
