from hypothesis import given
from hypothesis import strategies as st

from modules.cli.render.markdown_stream import MAX_BLOCK, Block, MarkdownStream

TEXT = """# Title
A paragraph
of two lines.

Steps:
- one
  - nested

  more of one
- two

After the list.
```python
x = 1

y = 2
```
End."""
WHOLE = [
    Block("# Title", False),
    Block("A paragraph\nof two lines.", True),
    Block("Steps:", False),
    Block("- one\n  - nested\n\n  more of one", True),
    Block("- two", True),
    Block("After the list.", False),
    Block("```python\nx = 1\n\ny = 2\n```", True),
    Block("End.", True),
]


def cut(pieces: list[str]) -> list[Block]:
    blocks = MarkdownStream()
    found = [block for piece in pieces for block in blocks.feed(piece)]
    return [*found, *blocks.finish()]


def test_a_text_is_cut_where_a_reader_would() -> None:
    assert cut([TEXT]) == WHOLE


@given(st.lists(st.integers(0, len(TEXT)), max_size=20))
def test_how_it_comes_in_makes_no_difference(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(TEXT)]
    assert cut([TEXT[a:b] for a, b in zip(edges, edges[1:], strict=False)]) == WHOLE


@given(st.text("ab -*1.#`~\n\t", max_size=200))
def test_nothing_is_lost(text: str) -> None:
    blocks = cut([text])
    joined = "".join("".join(block.text.split()) for block in blocks)
    assert joined == "".join(text.split())


def test_a_fence_in_a_list_stays_in_its_item() -> None:
    text = "1. do\n   ```sh\n   # not a heading\n\n   ls\n   ```\n2. then\n"
    assert [block.text for block in cut([text])] == [
        "1. do\n   ```sh\n   # not a heading\n\n   ls\n   ```",
        "2. then",
    ]


def test_a_long_fence_is_shown_in_parts_that_are_fences_again() -> None:
    lines = [f"line {number}" for number in range(3000)]
    blocks = cut(["```py\n" + "\n".join(lines) + "\n```\n"])
    assert len(blocks) > 1
    assert all(len(block.text) < 2 * MAX_BLOCK for block in blocks)
    assert all(block.text.startswith("```py\n") for block in blocks)
    assert [line for b in blocks for line in b.text.split("\n")[1:-1]] == lines


def test_a_line_without_end_is_shown_in_parts() -> None:
    blocks = MarkdownStream()
    found = [block for _ in range(30) for block in blocks.feed("x" * 1000)]
    assert found
    assert len(blocks.tail(10**6)) <= MAX_BLOCK + 1000


def test_the_tail_is_the_end_of_what_is_not_whole_yet() -> None:
    blocks = MarkdownStream()
    list(blocks.feed("done\n\n```py\n" + "a = 1\n" * 1000 + "b ="))
    tail = blocks.tail(50)
    assert tail.startswith("```py\na = 1\n")
    assert tail.endswith("\nb =")
    assert len(tail) < 80


def test_dropping_forgets_what_is_not_whole() -> None:
    blocks = MarkdownStream()
    list(blocks.feed("half a"))
    blocks.discard()
    assert [*blocks.feed("whole"), *blocks.finish()] == [Block("whole", False)]
