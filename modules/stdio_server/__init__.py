"""Serving a protocol on standard input and output: what the room of each such protocol needs.

The event loop of its SDK is in the main thread, and turns are in threads of their own.

- json_lines  Messages of JSON-RPC, one on a line, on two file descriptors.
- serving     Serving one client on standard input and output, until it goes away or a signal comes.
"""

EXPORTS = {
    "json_lines": ["JsonLines", "Message"],
    "serving": ["serve_client"],
}
