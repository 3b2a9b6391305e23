"""Output of the terminal: events, cards, Markdown and the lines that change.

- cards/           Cards and all that is drawn like them: calls, diffs, tables, receipts.
- approval_view    A question on the terminal screen: what is asked for to the letter, and the
                   person's answer.
- attention        Calls for the attention of a person who waits elsewhere: bell, notification and
                   title of the window.
- citations        Citations in a reply: numbers that lead to what the task has read, and those that
                   do not.
- greeting         The first lines of a dialogue. Drawn without rich, which need not be loaded to
                   see a prompt.
- keys             The keys of the terminal, as its help shows them.
- live             The lower end of a terminal: what is said for good, and below it a few lines
                   that change.
- live_region      The few lines at the end of the screen that change while a turn runs.
- markdown         Markdown as Onefold draws it: calm, without boxes, with Chinese wrapped as
                   Chinese is.
- markdown_stream  Markdown cut into blocks while it streams, so that each is drawn once, when it
                   is whole.
- past_turns       Turns of an earlier time, folded: what was said, and a line for each call.
- recent           What was shown in part, or not at all: calls with their results, and thoughts.
- screen           The terminal screen: draws every event of a turn, and asks where a person must
                   be asked.
- scrollback       The part printed for good, in the order in which it came: the model's text, and
                   all between.
- theme            Looks of the terminal screen: one console, its colours, and the marks of
                   Onefold.
- turn_end         What stands at the end of a turn: why it ended early, what its answer rests on,
                   what it took.
"""

EXPORTS = {
    "attention": ["Attention"],
    "cards.call_titles": ["CallTitles"],
    "cards.heading": ["elide_middle"],
    "cards.plain_cards": ["card_text", "duration", "picture_phrase"],
    "cards.receipts": ["receipt_lines"],
    "greeting": ["greet"],
    "screen": ["CliScreen"],
    "theme": ["make_console"],
}
