"""Anthropic's Messages API.

- anthropic           Anthropic's Messages API: Claude, and servers that speak it too.
- anthropic_draft     A reply of Anthropic's API as it grows, from the data of stream events to a
                      whole `Completion`.
- anthropic_messages  A conversation in the messages of Anthropic's API.
- anthropic_models    What Claude's models take and how much: known by their names, or from the
                      server's own list.
- anthropic_request   The body of a request to Anthropic's Messages API, in bytes.
"""
