from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from utils.llm.http.sse import EventReader

STREAM = (
    "\ufeff: keep-alive\n\ndata: one\n\n\n\nevent: x\nid: 1\ndata:two 世界\ndata: lines\n\n"
    ": more\r\n\r\ndata: three\r\n\r\ndata: last"
).encode()
EVENTS = [b"one", "two 世界\n lines".encode(), b"three", b"last"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_events_are_the_same_however_the_bytes_are_cut(cuts: list[int]) -> None:
    reader = EventReader()
    pieces = [STREAM[a:b] for a, b in pairwise([0, *cuts, len(STREAM)])]
    events = [event for piece in pieces for event in reader.feed(piece)]
    assert events == EVENTS[:-1]
    assert reader.close() == EVENTS[-1:]
    assert reader.close() == []
