"""The practice model of `--offline`: no AI, a documented handful of requests, the real tools.

- jobs/            Doing requests: the steps of each, and what their answers mean.
- language/        Understanding requests, in English and Chinese.
- chunks           A reply in the form in which DeepSeek streams one: chunks of JSON, as server-sent
                   events.
- parsed_request   What a chat-completions request tells: the message to answer, and what was done
                   for it so far.
- practice_reply   What the practice model says in one step.
- practice_server  A server for the practice model: DeepSeek's wire, on this machine only, a
                   function behind it.
- understanding    The practice model: a pure function from a chat-completions request to its next
                   reply.
- voice            What the practice model says: answers in the language it was asked in.
"""
