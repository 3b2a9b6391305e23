"""Pictures that a run has made, on its card."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.served_page import ServedPage, send
from tests.picture_files import picture_file
from tests.scripted_model import call_reply, text_reply


def test_a_picture_that_a_run_makes_is_drawn_on_its_card(served_page: ServedPage) -> None:
    (served_page.project / "data").write_bytes(picture_file(size=(40, 20)))
    command = "cp data 'my plot.png'; echo no picture > text.png"
    served_page.model.replies = [call_reply("run_command", command=command), text_reply("done")]
    page = served_page.open()
    send(page, "draw it")
    picture = page.locator(".card-run img")
    expect(picture).to_have_count(1)
    expect(picture).to_have_attribute("alt", "my plot.png")
    expect(picture).to_have_js_property("naturalWidth", 40)
    picture.click()
    expect(page.locator(".preview.image img")).to_be_visible()


def test_the_tables_that_a_run_writes_are_drawn_on_its_card(served_page: ServedPage) -> None:
    lines = "".join(f"{n},row {n}\\n" for n in range(20))
    command = (
        f"printf 'a,b\\n2,\"x, y\"\\n1,<b>\\n' > few.csv; printf 'n,name\\n{lines}' > many.csv"
    )
    served_page.model.replies = [call_reply("run_command", command=command), text_reply("done")]
    page = served_page.open()
    send(page, "write them")
    tables = page.locator(".card-run .run-table")
    expect(tables).to_have_count(2)
    expect(tables.first.locator("td")).to_have_text(["2", "x, y", "1", "<b>"])
    tables.first.get_by_role("button", name="a", exact=True).click()
    expect(tables.first.locator("td")).to_have_text(["1", "<b>", "2", "x, y"])
    expect(tables.last.locator("tbody tr")).to_have_count(10)
    tables.last.get_by_role("button", name="many.csv").click()
    expect(page.locator(".preview tbody tr")).to_have_count(20)
