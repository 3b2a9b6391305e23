"""Protocols of calls: how the tools, calls and answers that the engine knows stand on the wire.

- call_protocol  What a protocol does, and what it reads out of a reply's text.
- declarations   Declarations of tools as a text protocol needs them: types, examples, values.
- native         The server's own function calling: calls stand beside the text.
- registry       All protocols, by name; the one place that knows them.
- text_reply     A streamed reply whose calls stand in its text: shown without them, then read.
- vcp            VCP: calls as text blocks, for models and servers without function calling.
- vcp_calls      Calls with values of their declared types, as blocks of VCP and back.
- vcp_messages   A conversation in VCP: calls in the replies' text, answers as the person's
                 messages.
"""
