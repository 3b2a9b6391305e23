"""Texts: their lines, widths and patterns, and foreign text made harmless.

- clean        Foreign text made harmless: what a file, a program or a model wrote cannot drive a
               terminal.
- codec        Frozen dataclasses to plain JSON values and back, by their annotations.
- fold         Breaking text into lines by the cells that it takes on a terminal.
- git_names    Names by which git's own folder can be reached.
- globs        Patterns for paths: "*.py", "src/**/test_*.py", "*.{js,ts}".
- keys         Recognising keys and passwords by their look, for files that only help the person's
               memory.
- line_diff    The difference of two texts, line by line: found once for merging, for hunks and for
               the eye.
- lines        Texts of many lines: their numbered form, parts of them, what is like them.
- nearest      The name that somebody probably meant.
- strict_json  JSON from a model or a server: what is no JSON, by the letter or by its depth, is
               refused.
- tokens       How many tokens a text is likely to cost, fast enough to ask at every step.
"""
