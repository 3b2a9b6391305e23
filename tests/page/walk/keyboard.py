"""The keys that are pressed in a part of the page, and what was wrong there."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

WALK = Path(__file__).with_name("walk.js").read_text(encoding="utf-8")
MOST_STOPS = 400
TO_ITS_BEGINNING = """root => {
  const at = document.createElement("span");
  at.tabIndex = -1;
  root.prepend(at);
  at.focus();
  at.remove();
}"""


def focus_by_tab(page: Page, wanted: Locator, tab: str = "Tab") -> None:
    """Press Tab, or Shift+Tab, until *wanted* has the focus."""
    for _ in range(MOST_STOPS):
        if wanted.evaluate("it => it.matches(':focus') || it.closest('button')?.matches(':focus')"):
            return
        page.keyboard.press(tab)
    raise AssertionError(f"Tab does not lead to {wanted}")


def press(page: Page, wanted: Locator, tab: str = "Tab") -> None:
    """Go to *wanted* by Tab, and press it."""
    focus_by_tab(page, wanted, tab)
    page.keyboard.press("Enter")


def focused(page: Page) -> str:
    """Return what has the focus, "nothing" for the page as a whole."""
    return str(page.evaluate("walk.focused()"))


def walked(page: Page, root: Locator) -> list[str]:
    """Go through *root* by Tab, a dialog from the focus in it; return what was wrong."""
    is_modal = root.evaluate("root => root.matches('dialog')")
    if not is_modal:
        root.evaluate(TO_ITS_BEGINNING)
        expect(page.locator(".cm-focused")).to_have_count(0)  # an editor tells a moment later
    root.evaluate("root => walk.begin(root)")
    if is_modal:
        page.evaluate("walk.stop()")
    outside = 0
    for _ in range(MOST_STOPS):
        page.keyboard.press(page.evaluate("walk.leaving()"))
        page.keyboard.press("Tab")
        if page.evaluate("walk.isInText()"):
            expect(page.locator(".cm-focused")).to_have_count(1)
        where = page.evaluate("walk.stop()")
        outside = outside + 1 if where == "outside" else 0
        if where == "again" or outside > 2:  # a dialog goes round by way of the browser
            return [*page.evaluate("walk.faults"), *page.evaluate("walk.missed()")]
    return [f"no way out by Tab in {MOST_STOPS} stops"]
