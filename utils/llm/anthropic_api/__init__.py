"""Anthropic's Messages API.

- anthropic                Anthropic's Messages API: Claude, and servers that speak it too.
- anthropic_messages       A conversation in the messages of Anthropic's API.
- anthropic_models         Profiles of Claude's models: known by their names, or from the server's
                           own list.
- anthropic_request        The body of a request to Anthropic's Messages API, in bytes.
- anthropic_stream_parser  Parser of Anthropic's stream events, from their data to a whole
                           `Completion`.
"""

EXPORTS = {
    "anthropic": ["AnthropicMessages"],
}
