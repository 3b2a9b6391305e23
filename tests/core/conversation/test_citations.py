"""What an answer cites: numbers in its words, and nothing that only looks like one."""

from __future__ import annotations

import pytest

from core.cards import Link, LinksCard
from core.conversation.citation_marks import cited_numbers, with_links
from core.conversation.citations import Citation, Citations, citations_of
from core.conversation.messages import Assistant, Record, ToolResult

CITING = [
    ("So it is [2].", {2}),
    ("研究表明[1][12]。", {1, 12}),
    ("(2024)[3]", {3}),
    ("- one [1]\n    - two [2]", {1, 2}),
    ("[1]", {1}),
    ("In **bold [4]** and [a](b) then [5]", {4, 5}),
    ("a[2] and f_1[0], x[i][3]", set()),
    ("[0] [2024] [1a] [^1] [ 1 ]", set()),
    ("`[1]` and ``a ` [2]`` but ` [3]", {3}),
    ("```\n[1]\n~~~\n[2]\n```\n[3]", {3}),
    ("Code:\n\n    x = [1]\n\nwords [2]", {2}),
    ("[1](http://x) [2][ref] ![3] [a [4]](b) \\[5]", set()),
    ("[1]: http://x.org", set()),
    ("see\n[x]\n> quoted [6]", {6}),
]


@pytest.mark.parametrize(("text", "numbers"), CITING)
def test_a_number_in_brackets_cites_where_it_stands_in_words(text: str, numbers: set[int]) -> None:
    assert cited_numbers(text) == numbers


@pytest.mark.parametrize("hostile", ["`", "[", "[1]", "[a", "``` `", "[[x]", "`" * 7 + " "])
def test_a_line_made_to_take_long_does_not(hostile: str) -> None:
    line = hostile * (9_900 // len(hostile))  # in other patterns it would take hours
    assert cited_numbers(f"{line}\n{hostile * 200_000}") <= {1}


def searched(*links: Link) -> ToolResult:
    return ToolResult("c", "web_search", "text", card=LinksCard("q", links))


A, B = Link('A "quoted" [x]', "https://a.org/(1) 2", "", 1), Link("B", "javascript:b", "", 2)


def test_the_last_word_of_a_task_is_held_against_what_it_read() -> None:
    records: list[Record] = [
        Assistant("First [2]"),
        searched(A, B),
        Assistant("It is [1], "),
        Assistant("and [9] [9]."),
    ]
    assert citations_of(records) == Citations((Citation(1, A.url, A.title),), (9,))
    assert citations_of([Assistant("Without [1].")]) == Citations()
    assert citations_of([searched(Link("old", "https://o.org", "")), Assistant("[1]")]) == (
        Citations()
    )


def test_a_text_to_pass_on_has_links_in_it() -> None:
    text = with_links("So [1], `[1]`, [2] and [9].", {1: A, 2: B})
    assert text == (
        'So [\\[1\\]](<https://a.org/(1)%202> "A quoted x"), `[1]`, [2] and [9]? (source not read).'
    )
    assert with_links("a [1]", {}) == "a [1]"
