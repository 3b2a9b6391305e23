"""Calls that come otherwise than as calls: as text, as markup, in JSON that is a little wrong.

- call_context      Classification of a call by the words around it: one that is made, or an example
                    of one.
- call_guard        Guard of a streaming reply's text: no part of a call that is written in it is
                    shown.
- code_tracker      Following Markdown as it comes: whether what follows is code, in a fence or
                    between backticks.
- labelled_calls    Calls behind words: ReAct's `Action:` and its relatives, and a name above its
                    arguments.
- leaked_calls      Call markup that leaked into a reply's text: kept off the screen, and read back
                    as calls.
- lenient_json      JSON as models write it: a little wrong in ways that leave no doubt about what
                    was meant.
- tagged_calls      Calls between tags, as models write them in text: wrapped in one, or made of
                    them.
- text_call_syntax  The forms in which models write a call as text, each read whole or not at all.
- text_call_values  Calls written as a JSON value or a Python expression, whatever the keys are
                    called.
- text_calls        Calls that a model wrote as text: meant, merely shown, or undecidable.
- think_tag         Thinking that a server leaves in the text, in a tag at its start.
- vcp_block         The text block of a call in the VCP protocol: written, and read back whole or
                    not at all.
- vcp_text          The blocks of VCP in a text: those that stand for themselves, and whether any is
                    damaged.
"""

EXPORTS = {
    "call_context": ["is_example", "is_intended", "is_shown"],
    "leaked_calls": ["MarkupGuard", "calls_at", "read_calls"],
    "lenient_json": ["repair_object"],
    "text_call_values": ["TextCall", "is_quoted"],
    "text_calls": ["ToolFit", "find_calls"],
    "think_tag": ["ThinkTag", "part_answer"],
    "vcp_block": [
        "Block",
        "END_REQUEST",
        "NAME_KEY",
        "OPENING",
        "REQUEST",
        "is_key",
        "write_block",
        "write_pairs",
    ],
    "vcp_text": ["Outline", "Scan", "scan"],
}
