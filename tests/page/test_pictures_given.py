"""Pictures pasted into the message or dropped on it: seen before, sent with it, seen after."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.page.request_holding import HeldRequests, wait_until_drawn
from tests.page.served_page import ServedPage, message
from tests.page.test_drops import drop
from tests.picture_files import picture_file
from tests.scripted_model import text_reply

PASTE = """([name, type, data]) => {
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File([bytes], name, { type }));
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.querySelector(".composer textarea").dispatchEvent(event);
}"""


def paste(page: Page, name: str, data: bytes, kind: str = "image/png") -> None:
    page.evaluate(PASTE, [name, kind, b64encode(data).decode()])


def test_pictures_are_sent_with_the_message_and_shown_in_it(
    served_page: ServedPage, tmp_path: Path
) -> None:
    served_page.model.replies += [text_reply("Two squares.")]
    page = served_page.open()
    paste(page, "image.png", picture_file(size=(60, 40)))
    (tmp_path / "two.jpg").write_bytes(picture_file("JPEG", (50, 50)))
    drop(page, ".composer", tmp_path / "two.jpg")
    thumbnails = page.locator(".attached img")
    expect(thumbnails).to_have_count(2)
    paste(page, "three.gif", picture_file("GIF"), "image/gif")
    expect(thumbnails).to_have_count(3)
    page.get_by_role("button", name="Remove three.gif").click()
    expect(thumbnails).to_have_count(2)
    page.reload()  # what is attached stays
    expect(thumbnails).to_have_count(2)
    assert list(served_page.project.iterdir()) == []  # nothing went into the project
    message(page).fill("What is this?")
    message(page).press("Enter")
    expect(page.locator(".reply")).to_contain_text("Two squares.")
    expect(thumbnails).to_have_count(0)
    shown = page.locator(".person .picture img")
    expect(shown).to_have_count(2)
    expect(shown.first).to_have_attribute(
        "alt", re.compile(r"^image-\d{14}\.png, PNG, 60×40, \d+ B$")
    )
    loaded = "(images) => images.every((image) => image.complete && image.naturalWidth > 0)"
    page.wait_for_function(f"() => ({loaded})([...document.querySelectorAll('.person img')])")
    names = [picture["name"] for picture in served_page.model.requests[0][-1]["pictures"]]
    assert names[0].startswith("image-")  # each that is pasted has a name of its own
    assert names[1:] == ["two.jpg"]
    shown.first.click()
    expect(page.locator("dialog.picture-sheet img")).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".person .picture img")).to_have_count(2)


def test_pictures_stand_in_the_order_they_were_given(
    served_page: ServedPage, tmp_path: Path
) -> None:
    page = served_page.open()
    held = HeldRequests(page, "**/pictures?**", method="POST")
    paste(page, "first.png", picture_file(size=(60, 40)))
    held.wait()
    (tmp_path / "second.jpg").write_bytes(picture_file("JPEG", (50, 50)))
    drop(page, ".composer", tmp_path / "second.jpg")
    paste(page, "third.gif", picture_file("GIF"), "image/gif")
    wait_until_drawn(page)
    held.release()
    thumbnails = page.locator(".attached img")
    expect(thumbnails).to_have_count(3)
    names = [str(image.get_attribute("alt")).split(",")[0] for image in thumbnails.all()]
    assert names == ["first.png", "second.jpg", "third.gif"]


def test_a_message_waits_for_what_shows_its_pictures(served_page: ServedPage) -> None:
    served_page.model.replies += [text_reply("A square.")]
    page = served_page.open()
    held = HeldRequests(page, "**/composer/attachments.js*")
    paste(page, "first.png", picture_file(size=(60, 40)))
    held.wait()
    message(page).fill("What is this?")
    message(page).press("Enter")
    wait_until_drawn(page)
    expect(message(page)).to_have_value("What is this?")
    held.release()
    expect(page.locator(".attached img")).to_have_count(1)
    message(page).press("Enter")
    expect(page.locator(".reply")).to_contain_text("A square.")
    names = [picture["name"] for picture in served_page.model.requests[0][-1]["pictures"]]
    assert names == ["first.png"]


def test_what_cannot_be_used_is_said(served_page: ServedPage) -> None:
    page = served_page.open()
    paste(page, "broken.png", picture_file()[:40])
    expect(page.get_by_text("broken.png cannot be read as a picture")).to_be_visible()
    expect(page.locator(".attached img")).to_have_count(0)
    expect(message(page)).to_have_value("")
