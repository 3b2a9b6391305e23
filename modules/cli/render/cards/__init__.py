"""Cards, and all that is drawn like them: calls, diffs, tables, receipts.

- call_titles    Titles of calls on screen: a verb, and what it is done to.
- card_renderer  Each card drawn once, for a terminal.
- card_rows      Single rows of the cards: of a diff, of a search, of a plan.
- columns        Tables without lines; in a narrow window each row is stacked under its first cell.
- diff_lines     Diffs of several files line by line, for the full-screen viewer.
- heading        The first line of a call: what is done to what, then figures that must not be cut
                 off.
- helper_lines   What a helper does: one line while it works, all of it for who unfolds it.
- origin_lines   Where lines come from, in lines of plain text. Imports no screen library.
- origins        Where lines come from, drawn: the file, and who wrote which of its lines.
- plain_cards    Cards as plain text: for pipes, logs and whoever wants no drawing. Imports no
                 screen library.
- program_view   The program of a call in a few rows: of a long one the middle is left out until it
                 is asked for.
- prompt_rows    What the model read, row by row: where each part came from, and what of it the
                 cache had.
- receipts       Receipts below an answer: what was run, what that stands for, and claims without
                 any.
"""

EXPORTS = {
    "call_titles": ["CallTitles"],
    "card_renderer": ["BRIEF_ROWS", "INDENT", "CardRenderer"],
    "diff_lines": ["diff_view", "fits"],
    "heading": ["Heading", "PinnedHead", "ShownIfCut", "elide_middle"],
    "helper_lines": ["HelperLines"],
    "plain_cards": ["duration", "picture_phrase", "usage_parts"],
    "program_view": ["program_of"],
    "receipts": ["receipt_lines"],
}
