"""What answers hold beside words: formulas, diagrams, tables and pictures."""

from __future__ import annotations

import re
import socket
from base64 import b64encode

import pytest
from playwright.sync_api import Page, expect

from tests.page.accessibility import faults
from tests.page.served_page import Gate, ServedPage, replies, send
from tests.picture_files import picture_file
from tests.scripted_model import USED, text_reply
from utils.llm.completion import Completion, Delta

FORMULAS = r"""$e^{i\pi}+1=0$, \(a_1 \le b_2\), 设$x^2$为面积。

$$
\int_0^1 x\,dx
$$

where
\[ \frac{1}{2} \]

```math
x + y
```
"""
MONEY = (
    "It costs $5 and $6, or $5, or 6$ more; $5-$6, US$5 and HK$6, 5$ and 6$, $HOME:$PATH, \\$a\\$."
)
DIAGRAM = "```mermaid\nflowchart LR\n  A[Start] --> B[终点]\n```\n"
HOSTILE = r"""```mermaid
%%{init: {"securityLevel": "loose", "themeCSS": "* {background: url(http://EVIL/css)}"}}%%
flowchart LR
  A["<img src=http://EVIL/picture onerror=parent.hurt=1>"] --> B
  click A "javascript:parent.hurt=1"
  click B call hurt()
```

$\href{javascript:hurt=1}{x} \includegraphics{http://EVIL/tex} \htmlId{hurt}{y}$

$\def\a{\a\a}\a$

$\rule{9999em}{9999em}$
"""
TABLE = '| Name | Size |\n|---|---:|\n| b | 1,200 |\n| "a", c | 30 |\n| d | −4 |\n| e | |\n'


def answered(served_page: ServedPage, text: str, **options: str) -> Page:
    served_page.model.replies = [text_reply(text)]
    page = served_page.open(**options)
    send(page, "go")
    expect(page.locator(".end")).to_have_count(1)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_formulas_and_diagrams_are_drawn(
    served_page: ServedPage, language: str, scheme: str
) -> None:
    text = FORMULAS + DIAGRAM + TABLE
    page = answered(served_page, text, language=language, color_scheme=scheme)
    expect(page.locator(".math")).to_have_count(6)
    expect(page.locator(".math.displayed")).to_have_count(3)
    expect(page.locator(".math annotation").first).to_have_text(r"e^{i\pi}+1=0")
    picture = page.locator(".diagram img")
    expect(picture).to_have_js_property("complete", value=True)
    assert picture.evaluate("it => it.naturalWidth") > 20
    alternative = picture.get_attribute("alt")
    assert alternative
    assert "A[Start] --> B[终点]" in alternative
    expect(page.locator("figure.code:visible")).to_have_count(0)
    assert faults(page) == []
    page.get_by_role("button", name="Source code" if language == "en" else "源代码").click()
    expect(page.locator("figure.code:visible")).to_have_count(1)


def test_sums_of_money_are_no_formulas(served_page: ServedPage) -> None:
    page = answered(served_page, f"{MONEY}\n\n$x$")
    expect(page.locator(".math")).to_have_count(1)
    expect(replies(page).locator("p").first).to_have_text(MONEY.replace("\\", ""))


def test_what_is_no_formula_and_no_diagram_stays_as_it_was_written(
    served_page: ServedPage,
) -> None:
    page = answered(served_page, "$\\frac{$ and $x$\n\n```mermaid\nno diagram\n```\n\n" + DIAGRAM)
    expect(page.locator(".diagram")).to_have_count(1)  # which comes after the other
    expect(page.locator(".math")).to_have_count(1)
    expect(page.locator("code.formula")).to_have_text("\\frac{")
    expect(page.locator("figure.code:visible")).to_have_text("mermaidno diagram")
    expect(page.locator("figure.code:visible + .not-drawn")).to_have_text(
        re.compile("^This diagram could not be drawn: .*no diagram$")
    )


def test_half_of_a_formula_is_shown_as_it_comes(served_page: ServedPage) -> None:
    gates = [Gate(), Gate()]
    parts = ["Now $x^2", "$ is $$y", "$$.\n\nThen more.\n\n" + DIAGRAM]
    served_page.model.replies = [
        [
            *(Delta(parts[0]), gates[0], Delta(parts[1]), gates[1], Delta(parts[2])),
            Completion("".join(parts), "", (), USED),
        ]
    ]
    page = served_page.open()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    send(page, "go")
    expect(replies(page)).to_have_text("Now $x^2")
    gates[0].open()
    expect(replies(page)).to_have_text("Now x^2 is $$y")
    expect(page.locator("code.formula")).to_have_text("x^2")
    gates[1].open()
    expect(page.locator(".math")).to_have_count(2)
    expect(page.locator(".diagram")).to_have_count(1)
    assert problems == []


def test_a_hostile_answer_reaches_nothing(served_page: ServedPage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as evil:
        evil.setblocking(False)
        hostile = HOSTILE.replace("EVIL", f"127.0.0.1:{evil.getsockname()[1]}")
        page = answered(served_page, hostile + DIAGRAM)
        look_at_the_hostile(page)
        with pytest.raises(BlockingIOError):
            evil.accept()


def look_at_the_hostile(page: Page) -> None:
    expect(page.locator(".math, code.formula")).to_have_count(3)
    expect(page.locator(".diagram").last).to_be_visible()
    for picture in page.locator(".diagram").all():
        picture.click()
        expect(page.get_by_role("dialog")).to_be_visible()  # its module comes at the first click
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("window.hurt") is None
    expect(page.locator("#hurt, .math a, .math img")).to_have_count(0)
    frame = next(one for one in page.frames if "diagram.html" in one.url)
    reach = """async () => {
        const tries = [() => parent.document, () => localStorage, () => document.cookie,
                       () => fetch("/api/server")];
        const got = [];
        for (const each of tries) try { await each(); got.push(`${each}`); } catch {}
        return [got, origin];
    }"""
    assert frame.evaluate(reach) == [[], "null"]


def test_a_table_sorts_by_its_heads_and_copies_as_csv(served_page: ServedPage) -> None:
    page = answered(served_page, TABLE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    names = replies(page).locator("tbody td:first-child")
    size = replies(page).get_by_role("columnheader", name="Size")
    press = size.get_by_role("button")
    press.focus()
    for state, order in (
        ("ascending", ["d", '"a", c', "b", "e"]),
        ("descending", ["b", '"a", c', "d", "e"]),
    ):
        page.keyboard.press("Enter")
        expect(size).to_have_attribute("aria-sort", state)
        expect(names).to_have_text(order)
    page.keyboard.press("Enter")
    expect(size).not_to_have_attribute("aria-sort", re.compile(""))
    expect(names).to_have_text(["b", '"a", c', "d", "e"])
    replies(page).get_by_role("button", name="Copy as CSV").click()
    page.wait_for_function(
        "async () => (await navigator.clipboard.readText()).startsWith('Name,Size')"
    )
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == 'Name,Size\r\nb,"1,200"\r\n"""a"", c",30\r\nd,−4\r\ne,\r\n'


def test_a_picture_opens_large(served_page: ServedPage) -> None:
    data = b64encode(picture_file(size=(40, 20))).decode()
    (served_page.project / "plot.png").write_bytes(picture_file(size=(60, 30)))
    page = answered(served_page, f"![dot](data:image/png;base64,{data})\n\n![plot](plot.png)\n")
    for name, width in (("dot", 40), ("plot", 60)):
        opener = replies(page).get_by_role("button", name=name)
        opener.focus()
        page.keyboard.press("Enter")
        large = page.get_by_role("dialog", name=name).locator("img")
        expect(large).to_have_js_property("naturalWidth", width)
        page.keyboard.press("Escape")
        expect(opener).to_be_focused()


def test_nothing_of_it_is_fetched_before_it_is_needed(served_page: ServedPage) -> None:
    asked: list[str] = []
    served_page.model.replies = [text_reply("Words."), text_reply("$x$")]
    page = served_page.open()
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    send(page, "go")
    expect(replies(page)).to_have_text(["Words."])
    assert [url for url in asked if "katex" in url or "mermaid" in url or "frames" in url] == []
    send(page, "more")
    expect(page.locator(".math")).to_have_count(1)
    assert [url for url in asked if "mermaid" in url or "frames" in url] == []
