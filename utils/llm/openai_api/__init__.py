"""The chat-completions API: requests out, a stream of events back.

- chat_completions  The chat-completions API: DeepSeek's, OpenAI's, and of all servers that are
                    compatible.
- deferred_types    Import of the package `openai` without the hundreds of types that it lists for
                    typed programs.
- event_shapes      The shapes in which servers send the parts of a streamed reply, brought to the
                    usual one.
- request           The body of a chat-completions request, in bytes.
- signatures        What a server signs a reply with, and wants back with it: Gemini's calls,
                    OpenRouter's thoughts.
- stream_parser     Parser of a streamed reply, from the data of its events to a whole `Completion`.
- streamed_calls    The calls of a streamed reply, put together from the pieces that servers send of
                    them.
- wire_messages     The messages of a request in the form that a server takes.
"""

EXPORTS = {
    "chat_completions": ["ChatCompletions", "token_count"],
    "request": ["RequestBody"],
    "streamed_calls": ["repair_surrogates", "with_ids"],
    "wire_messages": ["with_own_pictures"],
}
