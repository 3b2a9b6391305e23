"""Edits of text: what an edit means, and the text before and after it.

- edit_operations  Operations of modify_file on a text.
- edit_variants    Variants of an edit whose old text a model has altered, as by line numbers or a
                   fence.
- edits            Finding the text that an edit means: exactly, or with small differences, but
                   never guessed.
- indentation      Indentation of the lines of an edit: moved as a block, or from spaces to tabs and
                   back.
- long_text        Text files too long to hold in memory, read line by line.
- look_alikes      Matching of text but for characters that look alike: quotes, dashes and odd
                   spaces.
- placeholders     Lines that stand for code somebody did not write out: "// ... rest of the code
                   unchanged".
- read_state       State of what the model has read, so that it never overwrites a version that it
                   has not seen.
- text_file        A text file as bytes and as text: what was not edited comes back byte for byte.
"""

EXPORTS = {
    "edit_operations": ["EditRequest", "apply_edit", "refuse_placeholders"],
    "long_text": ["LongText", "MAX_BYTES", "NotLineByLine", "TooFar", "read_from_line"],
    "text_file": ["NotText", "TextFile"],
}
