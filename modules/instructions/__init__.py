"""Instructions of a project: AGENTS.md, found where it counts, told as it is, asked about.

- consent       Consent to what a project brings along: what the person said of each content,
                asked once.
- draft         A draft of AGENTS.md from what the files of a project say, without a model.
- feature       Instructions of a project: its AGENTS.md, told to the model where they count and as
                they are.
- files         Files of instructions: which count for a folder, what they hold, and how the model
                is told.
- init_command  `/init`: writes an AGENTS.md from what is found in the project, and confirms those
                that are.
- judge         Judging files of instructions: which are told, which asked about, what an answer
                means.
- origin        Origin of a file of instructions: why it may come from somebody else than the
                person.
"""

EXPORTS = {
    "consent": ["AskOnce", "Consents", "content_digest"],
    "feature": ["Instructions"],
    "init_command": ["Init"],
}
