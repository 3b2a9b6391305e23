"""How the model's client fits itself to a server.

`server_profile`: what a server takes; `refusals`: what a refusal says of that; `wire_messages`:
the messages in the form that it takes; `text_calls`: calls that a model wrote as text, in the forms
of `text_call_syntax` and `text_call_values`; `call_context`: what the words around them make of
them; `call_guard`: what of them a screen may show while they stream.
"""
