"""Leaf modules: they import nothing of the rest of the program.

- llm/             The model's client: servers, providers and their APIs, errors and prices.
- system/          The system: files, locks, processes, signals and streams.
- text/            Texts: their lines, widths and patterns, and foreign text made harmless.
- api_client       The client of a model: sends requests and streams replies, whatever the API of
                   its server.
- bootstrap        Bootstrap of our own virtual environment, beside `main.py`, when packages are
                   missing.
- context_manager  Fitting of a request into the model's window: pure functions on sizes.
- dotenv           Reading a `.env` file: lines NAME=VALUE, with comments, quotes and `export` as in
                   a shell.
- error_codes      Codes of errors, for programs: they stay, while the sentence beside them is for
                   people.
- frozen           `@frozen`: a frozen dataclass with slots, made in a fifth of the time.
- i18n             Messages for people, separate from the language they are shown in.
- logger           Log of failures on our side; no key ever gets into it.
- pictures         Reference to a picture: all but its bytes, which a store keeps.
- setting_kinds    Kinds of settings: the parser of a value, and the text about allowed values.
- shortcuts        The keyboard shortcuts of both screens: what each does, its usual keys, and what
                   others may be.
- waiting          Interruptible waiting: every wait of the program ends when its `Stop` is set.
"""

EXPORTS = {
    "api_client": ["ApiClient"],
    "bootstrap": ["STARTED_BY", "ensure_environment"],
    "context_manager": ["first_turn_kept"],
    "dotenv": ["read_dotenv"],
    "frozen": ["frozen"],
    "i18n": ["BadUsage", "Phrase", "Text", "UserError", "join_lines", "phrase"],
    "logger": ["FailureLog"],
    "pictures": [
        "Picture",
        "PictureGone",
        "ReadPicture",
        "read_no_picture",
        "scaled_size",
        "unseen_note",
    ],
    "setting_kinds": [
        "address",
        "choice",
        "commands",
        "encoding",
        "folders",
        "hosts",
        "key",
        "models",
        "name",
        "number",
        "prices",
        "providers",
        "shortcuts",
        "text",
        "yes_no",
        "yes_no_or_neither",
    ],
    "shortcuts": ["ALL", "COMMAND_KEYS", "TERMINAL", "keys_of_page", "terminal_keys"],
    "waiting": ["EitherStop", "Stop", "Stopped", "interruptible"],
    "error_codes": ["ErrorCode"],
}
