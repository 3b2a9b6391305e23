"""Output of the terminal: events, cards, Markdown and the lines that change.

- approval_view    A question on the terminal screen: what is asked for to the letter, and the
                   person's answer.
- attention        Calls for the attention of a person who waits elsewhere: bell, notification
                   and title of the window.
- call_titles      Titles of calls on screen: a verb, and what it is done to.
- card_renderer    Each card drawn once, for a terminal.
- card_rows        Single rows of the cards: of a diff, of a search, of a plan.
- citations        Citations in a reply: numbers that lead to what the task has read, and those that
                   do not.
- columns          Tables without lines; in a narrow window each row is stacked under its first
                   cell.
- diff_lines       Diffs of several files line by line, for the full-screen viewer.
- greeting         The first lines of a dialogue. Drawn without rich, which need not be loaded to
                   see a prompt.
- heading          The first line of a call: what is done to what, then figures that must not be cut
                   off.
- keys             The keys of the terminal, as its help shows them.
- live             The lower end of a terminal: what is said for good, and below it a few lines that
                   change.
- live_region      The few lines at the end of the screen that change while a turn runs.
- markdown         Markdown as Onefold draws it: calm, without boxes, with Chinese wrapped as
                   Chinese is.
- markdown_stream  Markdown cut into blocks while it streams, so that each is drawn once, when it is
                   whole.
- origin_lines     Where lines come from, in lines of plain text. Imports no screen library.
- origins          Where lines come from, drawn: the file, and who wrote which of its lines.
- past_turns       Turns of an earlier time, folded: what was said, and a line for each call.
- plain_cards      Cards as plain text: for pipes, logs and whoever wants no drawing. Imports no
                   screen library.
- program_view     The program of a call in a few rows: of a long one the middle is left out until
                   it is asked for.
- prompt_rows      What the model read, row by row: where each part came from, and what of it the
                   cache had.
- screen           The terminal screen: draws every event of a turn, and asks where a person must be
                   asked.
- recent           What was shown in part, or not at all: calls with their results, and thoughts.
- receipts         Receipts below an answer: what was run, what that stands for, and claims without
                   any.
- scrollback       The part printed for good, in the order in which it came: the model's text, and
                   all between.
- turn_end         What stands at the end of a turn: why it ended early, what its answer rests on,
                   what it took.
- theme            Looks of the terminal screen: one console, its colours, and the marks of Onefold.
"""

EXPORTS = {
    "attention": ["Attention"],
    "call_titles": ["CallTitles"],
    "greeting": ["greet"],
    "heading": ["elide_middle"],
    "plain_cards": ["card_text", "duration", "picture_phrase"],
    "receipts": ["receipt_lines"],
    "screen": ["CliScreen"],
    "theme": ["make_console"],
}
