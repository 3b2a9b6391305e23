"""Commands of one's own: files of Markdown, in the format that other agents read as well.

- expansion     Expansion of a command's text: its arguments, what its `!` lines print, the files
                behind its `@`.
- feature       Commands of one's own, by name: the person's, and those of the project.
- files         Files of commands: where they lie, what they are called, and what one says.
- front_matter  Front matter of a Markdown file: the few forms of YAML that such files use.
"""

EXPORTS = {
    "feature": ["OwnCommands"],
    "files": ["CommandFile", "CommandReader"],
    "front_matter": ["split_front_matter"],
}
