"""How the model's client fits itself to a server.

`server_profile`: what a server takes; `refusals`: what a refusal says of that; `wire_messages`:
the messages in the form that it takes.
"""
