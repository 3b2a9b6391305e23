"""Texts: their lines, widths and patterns, and foreign text made harmless.

- clean        Foreign text made harmless: what a file, a program or a model wrote cannot drive a
               terminal.
- codec        Frozen dataclasses to plain JSON values and back, by their annotations.
- fold         Breaking text into lines by the cells that it takes on a terminal.
- git_names    Names by which git's own folder can be reached.
- globs        Patterns for paths: "*.py", "src/**/test_*.py", "*.{js,ts}".
- keys         Keys and passwords, known by their form: redacted in logs and notes, found in
               commits.
- line_diff    The difference of two texts, line by line: found once for merging, for hunks and for
               the eye.
- lines        Texts of many lines: their numbered form, parts of them, what is like them.
- nearest      Suggestions of the name that was probably meant.
- sentences    Full stops of what others wrote, where a sentence of ours goes on after it.
- strict_json  JSON from a model or a server: what is no JSON, by the letter or by its depth, is
               refused.
- tokens       Estimate of the tokens of a text, fast enough for every step.
"""

EXPORTS = {
    "clean": ["clean", "visible", "visible_lines", "visible_text"],
    "codec": ["from_plain", "to_plain"],
    "fold": ["wrapped"],
    "git_names": ["is_git_name", "is_in_git"],
    "globs": ["glob_filter", "without_backtracking"],
    "keys": ["MIN_SECRET_LENGTH", "holds_key", "keys_in", "redact_keys", "redact_secret"],
    "line_diff": [
        "WHOLE",
        "Difference",
        "LineChange",
        "differing",
        "line_changes",
        "text_diff",
        "with_ends",
    ],
    "lines": [
        "cut_middle",
        "first_names",
        "format_size",
        "lines_of",
        "nearest_block",
        "numbered",
        "parse_number",
        "replace_lone_surrogates",
        "replace_surrogates",
        "with_count",
    ],
    "nearest": ["nearest_name", "nearest_paths", "with_suggestion"],
    "sentences": ["ended", "ended_phrase", "unended"],
    "strict_json": ["is_json", "is_object", "read_json"],
    "tokens": ["estimate_tokens"],
}
