"""Requests as they were sent to the model, kept with each session: their bytes, and when.

- cache_misses  Misses of the provider's cache: what of a request had to be read anew, and why.
- feature       What a session sends: each request is kept, at the step it is for, and shown by
                `/context`.
- prompt_cards  The glass prompt as cards: the steps of a session, and what the model read in one of
                them.
- prompt_parts  The parts of a request: what the model read, in its order, and where each came from.
- request_log   The log: the requests of a session in a file, each as what is new in it.
- steps         The steps of a session: what was sent in each, what the server counted, what was
                done between.
"""

EXPORTS = {
    "feature": ["SentRequests"],
    "request_log": ["RequestLog", "requests_as_json"],
}
