"""Requests as they were sent to the model, kept with each session: their bytes, and when.

- feature      The keeping of what a session sends: each request, at the step that it is for.
- request_log  The log: the requests of a session in a file, each as what is new in it.
"""

EXPORTS = {
    "feature": ["SentRequests"],
    "request_log": ["RequestLog", "requests_as_json"],
}
