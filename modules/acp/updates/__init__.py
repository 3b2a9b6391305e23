"""Updates of a turn: what a client is told of each event of it, in the words of the protocol.

- calls     Calls of tools as a client shows them: their kind, their files and their content.
- turn_end  The end of a turn as Markdown: the sources that its answer names, and what was run.
- updates   Events of a turn as updates of the protocol.
"""

EXPORTS = {
    "calls": ["content_of", "fenced", "kind_of", "markdown_of", "text_content"],
    "updates": ["Update", "Updates"],
}
