"""Edits of text: what an edit means, and the text before and after it.

- edit_operations  What modify_file does to a text, for each of its operations.
- edit_variants    Readings of an edit whose old text a model has altered, as by line numbers or a
                   fence.
- edits            Finding the text that an edit means: exactly, or with trifles forgiven, but never
                   guessed.
- indentation      Indentation of the lines of an edit: moved as a block, or from spaces to tabs and
                   back.
- long_text        A text file that is too long to hold at once: it is read line by line.
- look_alikes      Characters that look alike: which text stands where, but for quotes, dashes and
                   odd spaces.
- placeholders     Lines that stand for code somebody did not write out: "// ... rest of the code
                   unchanged".
- read_state       What the model last saw of each file, so that it never overwrites what it does
                   not know.
- text_file        A text file as bytes and as text: what was not edited comes back byte for byte.
"""
