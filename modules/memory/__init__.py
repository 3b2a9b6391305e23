"""Memory: what every session of a project should know, and what one session is about.

- memory_items    Items of `MEMORY.md`: their category, their date, and adding and removing them.
- memory_offers   Sentences of the person that may be worth remembering.
- memory_recall   Recall of the items of a long memory that fit the words of a task.
- own_decisions   Decisions of the model in its own words, and why or instead of what.
- session_decisions
                  Decisions of sessions that the person was not offered to remember yet, kept in a
                  file.
- task_memory     Memory of the session itself, `WORKING.md`: goals, decisions, open questions.
- working_memory  What a session is about: goals, decisions and open questions, made of its records
                  by rule.
"""

EXPORTS = {
    "memory_items": [
        "MemoryItem",
        "blocks_of",
        "category_of",
        "decode_lines",
        "encode",
        "item_line",
        "items_of",
        "parse_line",
        "with_item",
        "without_item",
    ],
    "memory_offers": ["Offer", "OfferedTexts", "find_offer"],
    "memory_recall": ["recall"],
    "session_decisions": ["SessionDecisions"],
    "task_memory": ["TaskMemory"],
}
