"""What a message names with an `@`: a file, a folder, a web page, or a definition in the project.

- cost      About how many tokens the mentions of a message cost, said before it is sent.
- feature   The mentions of a message as calls, which are run before the model is asked.
- names     The names behind an `@` in a message.
- symbols   Functions and classes of the project that a message names, and where they end.
"""

EXPORTS = {
    "feature": ["Mentions"],
    "names": ["NAME_START"],
}
