"""The connection to a server: bytes, events and failures.

- client          The HTTP client that a provider's package is given: it builds a request once and
                  adds nothing.
- error_bodies    Reading the body of an error: its sentence, its type and the status it stands for.
- errors          Failures between us and the model's server, each as one sentence for people.
- exchange        One exchange with a server, which may be broken off from any thread.
- proxies         The proxy that the environment names for an address, and what it wants to be told.
- reply_failures  A request that brought no usable reply, and the ways in which a reply can be of no
                  use.
- reply_limits    Limits of one reply of a server, at which it is aborted, and the counter of it.
- response_body   The body of a response, in the pieces that the network brings it in.
- retry_after     Reading for how long a server wants us to wait, however it says so.
- sse             Server-sent events: bytes as the network brings them to the data of whole events.
- transport       HTTP/1.1 transport to the model's server, which a `Stop` aborts at once, whatever
                  it waits for.
"""

EXPORTS = {
    "client": ["HttpClient"],
    "error_bodies": ["page_text", "status_error"],
    "errors": ["ServerErrors"],
    "exchange": ["Exchange"],
    "reply_failures": [
        "RequestFailed",
        "StreamError",
        "broken_reply",
        "empty_reply",
        "filtered_reply",
        "leaked_markup",
        "overloaded",
        "refused_reply",
        "too_many_calls",
    ],
    "reply_limits": ["LimitExceeded", "ReplyLimits", "ReplyWatch"],
    "sse": ["EventReader"],
    "transport": ["CancellableTransport", "Insecure", "Unreachable"],
}
