"""DeepSeek's API on this machine, playing a script: what the tests of the whole product talk to.

```python
script = [
    Call("read_file", path="a.txt"),                      # step 1: one call
    (Think("Hm."), Say("I write."), Call("create_file", path="b", content="x")),   # step 2
    Refuse(503),                                          # step 3 is busy; the client asks again
    Say("Done."),
]
with Simulator(script) as server:
    ...  # run the product with DEEPSEEK_BASE_URL=server.url and any key
    assert server.requests[0].last_user == "Please copy a.txt to b"
    assert server.is_finished
```

A **script** is a list of steps, one for each valid request, in order. A **step** is a part, or a
tuple of parts that go over the wire in that order. An item of the script may also be a function
that gets the `ReceivedRequest` request and returns its step, and the whole script may be such a
function. When the script is at its end, a request is answered 400. Parts:

what a model says
    `Say(text)`, `Think(text)` (left out when the request is one without thinking), `Call(name,
    **arguments)`, `CallText(name, arguments, id)` for arguments as text, whole JSON or not,
    `markup(calls…)` for calls that leak as text (put it into `Say` or `Think`). `Finish(reason)`
    replaces the finish reason, which else is `tool_calls` after a call and `stop` otherwise.
what goes wrong in a stream, at that point of it
    `Cut()` ends the stream without a finish reason (`Cut(done=True)`: but with `[DONE]`),
    `Drop()` breaks the connection, `Stall()` says nothing more until the client leaves,
    `Pause(seconds)`, `KeepAlive(count)` comments, `ErrorFrame(message, type)`, `Raw(data)` bytes.
what goes wrong instead of a stream
    `Refuse(status)` with the official body of 401, 402, 429, 500 (HTML) and 503, or your own;
    `Drop()` or `Stall()` as the only part: no byte is ever sent.
how it is sent
    `Manner(usage="trailing" | "none", repeats_ids=True, newline="\\r\\n", piece_bytes=1,
    done=False)`.

Every request is **checked** as strictly as the API does it at its strictest (`validation.py`);
what it would refuse is refused with its words and uses up no step. At the end of the `with` block
each request received must have been valid, and is shown to DeepSeek's own validator
(`deepseek-recipe`) as well, which must agree: `judged=False` is for tests of bad requests.
Tokens are a quarter of the bytes; the prompt cache works in whole units of 128 of them.

By hand: `python -m tests.simulator --help`.
"""

from tests.simulator.script import (
    Call,
    CallText,
    Cut,
    Delivery,
    Drop,
    ErrorFrame,
    Finish,
    KeepAlive,
    Part,
    Pause,
    Raw,
    Refuse,
    Say,
    Stall,
    Step,
    Think,
    markup,
)
from tests.simulator.server import ReceivedRequest, Simulator

__all__ = [
    "Call",
    "CallText",
    "Cut",
    "Drop",
    "ErrorFrame",
    "Finish",
    "KeepAlive",
    "Delivery",
    "Part",
    "Pause",
    "Raw",
    "ReceivedRequest",
    "Refuse",
    "Say",
    "Simulator",
    "Stall",
    "Step",
    "Think",
    "markup",
]
