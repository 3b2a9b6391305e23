"""Pictures that a model may look at: from the person's message, or from a file of the project.

`feature`: what the session has of them; `store`: where they are kept; `formats`: what is opened;
`intake`: how a file that nobody trusts becomes one, in `worker`, a process of its own that
`confinement` shuts in; `mentions`: those that a message typed in a terminal names.
"""
