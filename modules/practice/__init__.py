"""The practice model of `--offline`: no AI, a documented handful of requests, the real tools.

- language/        Understanding requests, in English and Chinese.
- requests/        Doing requests: the steps of each, and what their answers mean.
- chunks           Chunks of a streamed reply in DeepSeek's form: JSON, as server-sent events.
- parsed_request   Parser of a chat-completions request: the message to answer, and the calls for it
                   so far.
- practice_model   Practice model: a pure function from a chat-completions request to its next
                   reply.
- practice_reply   Reply of the practice model in one step.
- practice_server  A server for the practice model: DeepSeek's wire, on this machine only, a
                   function behind it.
- vcp_requests     Practice in VCP: a request with calls in its text read as one with calls, the
                   reply written back.
- voice            Texts of the practice model: answers in the language that it was asked in.
"""

EXPORTS = {
    "practice_model": ["reply_to"],
    "practice_server": ["serve"],
}
