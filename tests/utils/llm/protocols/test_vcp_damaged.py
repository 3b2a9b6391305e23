"""Blocks of VCP within the values of others that are damaged: none of them runs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.utils.llm.protocols.test_vcp import WHOLE, read

FENCED = f"\n```\n{WHOLE}\n```\n"
OUTER = (
    "<<<[TOOL_REQUEST]>>>\ntool_name:「始」create_file「末」,\npath:「始」b.md「末」,\n"
    "content:「始」{}「末」\n<<<[END_TOOL_REQUEST]>>>"
)
DAMAGED = {
    "inside a value in a fence": f"I delete it.\n```\n{OUTER.format(FENCED)}\n```",
    "inside a value in a fence, with words": f"````\n{OUTER.format(f'So: {FENCED}')}\n````",
    "inside a value in a fence of a list": f"- ```\n{OUTER.format(FENCED)}\n```",
    "inside a quotation that is cut": "> " + OUTER.format(f"\n{WHOLE}\n> "),
    "inside a span that is cut": OUTER.replace("\n", " ").format(f"` {WHOLE} `").join("``"),
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_value_that_runs_out_of_its_fence_holds_no_call(text: str) -> None:
    assert read(text) == []


def test_a_whole_block_in_code_leaves_a_call_behind_it_alone() -> None:
    shown = f"It was this:\n```\n{OUTER.format('b')}\n```\nI delete it.\n{WHOLE}"
    assert read(shown) == [("delete_file", {"path": "a.txt"})]


MARKS = ("```", "````", "~~~", "```text", "- ```", "> ```", '"```')
"""Begins of fences, as models and Markdown have them."""


def fenced(text: str, mark: str) -> str:
    end = re.sub("[^`~]", "", mark)
    return f"{mark}\n{text}\n{end}" if mark else text


@given(st.sampled_from(("", *MARKS)), st.sampled_from(("", *MARKS)), st.data())
@settings(max_examples=300, deadline=None)
def test_a_block_within_a_damaged_value_never_runs(
    around: str, within: str, data: st.DataObject
) -> None:
    value = data.draw(st.sampled_from(["{}", "So:\n{}\n", "\n{}\n"]))
    text = fenced(OUTER.format(value.format(fenced(WHOLE, within))), around)
    pieces = ["<<<[", "]>>>", "[TOOL_REQUEST]", "「始」", "「末」", "content:", "tool_name:", "\n"]
    places = [(at.start(), one) for one in pieces for at in re.finditer(re.escape(one), text)]
    start, piece = data.draw(st.sampled_from([(0, ""), *places]))
    end = data.draw(st.sampled_from([len(text), text.index(WHOLE) + len(WHOLE)]))
    damaged = text[:start] + text[start + len(piece) : end]
    assert read(damaged) == read(f"I'll do it now.\n\n{damaged}") == []
