"""Leaves: they know nothing of the house.

- llm/             The model's client: servers, providers and their APIs, errors and prices.
- system/          The system: files, locks, processes, signals and streams.
- text/            Texts: their lines, widths and patterns, and foreign text made harmless.
- api_client       The model's wire: requests out, a reply in pieces back, whatever the API of its
                   server.
- bootstrap        The environment of our own: made beside `main.py` when the packages are missing.
- context_manager  Fits a request into the model's window: pure functions on sizes.
- dotenv           Reading a `.env` file: lines NAME=VALUE, with comments, quotes and `export` as in
                   a shell.
- i18n             Words for people, kept apart from the language they are shown in.
- logger           The log of what went wrong on our side; no key ever gets into it.
- pictures         A picture as data: what is known of it without its bytes, which a place of their
                   own keeps.
- setting_kinds    What a setting may be: how its value is read, and what is told of it when it is
                   another.
- waiting          Waiting that can be cut short: every wait in the house ends when its `Stop` is
                   set.
"""
