"""The terminal: options, the dialogue, and `-p` for one task.

- attach/       A terminal that joins a running server: the same session, in another process.
- input/        Input of the person: the prompt, keys and lines during a turn, answers to questions.
- render/       Output of the terminal: events, cards, Markdown and the lines that change.
- api_key       Asking for the key on the first start, and keeping it where only its owner reads.
- args          The command line: what may be said on it, and what was.
- colors        The colors of the terminal: its own sixteen, or those of a theme.
- follow_log    `--follow`: the operations log as it grows, to be read by a person.
- model_access  Choice of the model: that of the settings, a server on this machine, or the practice
                model.
- next_steps    Hints for who has no dialogue: with `-p` each task is a session of its own.
- option_specs  Options of the command line, told and read by one table.
- print_mode    The screen of `-p`: one task without a dialogue, for a person in a hurry or for a
                program.
- print_task    The task of `-p`: what was typed, what was piped in, and how it is done.
- repl          The dialogue at a terminal: a line is read, put to the terminal and its events are
                shown.
- screen_settings
                What the terminal's screen takes from the settings, as they are now.
- shell_completion
                Completion of the command line by a shell: the script for it, and what is proposed.
- start_menu    The questions of `main.py` when it was started without options, with the answers of
                last time.
- task_changes  Sum of the changes of a whole task to the files, from those of each of its calls.
- tool_dialogue The tool tester in a terminal (`--tools`): a dialogue, one text from a pipe, or all
                cases.
- usage_errors  Errors in the use of the command line, in the language of the person.
"""

EXPORTS = {
    "api_key": ["log_in"],
    "args": ["Args", "parse"],
    "attach.client": ["attach"],
    "colors": ["Colors"],
    "follow_log": ["follow"],
    "model_access": [
        "NO_KEY",
        "ChosenServer",
        "CreateClient",
        "ModelAccess",
        "choose_model",
        "practice_server",
    ],
    "option_specs": ["help_text"],
    "print_mode": ["PlainScreen"],
    "render.attention": ["OFF", "Attention"],
    "render.cards.call_titles": ["CallTitles"],
    "render.cards.plain_cards": ["asked_text", "card_text"],
    "render.cards.receipts": ["receipt_lines"],
    "print_task": ["read_task", "run_task"],
    "repl": ["run_repl"],
    "screen_settings": ["ScreenSettings"],
    "start_menu": ["ask_how_to_start"],
    "tool_dialogue": ["run_tool_tester"],
}
