"""Calls that come otherwise than as calls: as text, as markup, in JSON that is a little wrong.

- call_context      What the words around a call make of it: a call that is made, or one that is
                    shown.
- call_guard        What of a reply's text may be shown while it streams: no part of a call that is
                    written in it.
- leaked_calls      Call markup that leaked into a reply's text: kept off the screen, and read back
                    as calls.
- lenient_json      JSON as models write it: a little wrong in ways that leave no doubt about what
                    was meant.
- tagged_calls      Calls between tags, as models write them in text: wrapped in one, or made of
                    them.
- text_call_syntax  The forms in which models write a call as text, each read whole or not at all.
- text_call_values  The calls that a JSON value or a Python expression spells, whatever its parts
                    are called.
- text_calls        Calls that a model wrote as text: meant, merely shown, or not to be told.
- think_tag         Thinking that a server leaves in the text, in a tag at its start.
"""
