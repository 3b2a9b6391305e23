"""Every place of the page: how a keyboard enters it, what it is, and where its leaving leads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.page.served_page import ServedPage, send
from tests.page.walk.keyboard import focus_by_tab, press
from tests.scripted_model import Item, call_reply, text_reply

ROOT = Path(__file__).parents[3]
CHINESE: dict[str, str] = json.loads(
    (ROOT / "static/i18n/page.zh.json").read_text(encoding="utf-8")
)
MESSAGE = ".composer textarea"


@dataclass
class Walker:
    """Who walks: on *page*, with a keyboard alone."""

    served: ServedPage
    page: Page
    language: str

    def say(self, text: str) -> str:
        """Return a text of the page in its language."""
        return CHINESE[text] if self.language == "zh" else text

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def find(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def choose(self, action: str) -> None:
        """Do the *action*, as Ctrl-K names it."""
        self.press("Control+k")
        expect(self.find("dialog.palette input")).to_be_focused()
        palette = self.find("dialog.palette").element_handle()
        first = self.find("dialog.palette [role=option] b").first
        self.page.keyboard.type(self.say(action))
        expect(first).to_have_text(self.say(action))
        self.press("Enter")
        palette.wait_for_element_state("hidden")  # Enter waits for what is being searched

    def to_tab(self, name: str) -> bool:
        """Go to the part *name* of the page; return whether it has such tabs, as on a phone."""
        tab = self.find(f".phone-tabs [data-name={name}]")
        if not tab.is_visible():
            return False
        focus_by_tab(self.page, self.find(".phone-tabs [aria-selected=true]"))
        for _ in range(3):
            if tab.get_attribute("aria-selected") == "true":
                break
            self.press("ArrowRight")
        expect(tab).to_be_focused()
        return True

    def open_file(self, name: str) -> None:
        self.press("Control+p")
        self.page.keyboard.type(name)
        expect(self.find("dialog.palette [role=option]").first).to_contain_text(name)
        self.press("Enter")
        expect(self.find(".pane-tab.shown")).to_contain_text(name)
        expect(self.find(".loading-note:visible")).to_have_count(0)

    def open_status(self) -> None:
        press(self.page, self.find(".statusbar > button").last)
        expect(self.find(".status-sheet")).to_be_visible()

    def open_from_status(self, words: str) -> None:
        self.open_status()
        press(self.page, self.find(".status-sheet .buttons").get_by_text(self.say(words)))


Way = Callable[[Walker], None]


def _escape(walker: Walker) -> None:
    walker.press("Escape")


@dataclass(frozen=True)
class Place:
    """A part of the page that is not always in sight.

    *modules* are those under static/js that draw it. *root* is found once it is there, and no
    longer (or hidden) when it was left; then *back* has the focus. Tab leaves a menu.
    """

    name: str
    modules: tuple[str, ...]
    root: str
    enter: Way
    leave: Way = _escape
    back: str = MESSAGE
    stays: bool = False
    is_menu: bool = False


def _keys(*keys: str) -> Way:
    return lambda walker: walker.press(*keys)


def _chosen(action: str) -> Way:
    return lambda walker: walker.choose(action)


def _from_status(words: str) -> Way:
    return lambda walker: walker.open_from_status(words)


def _press(selector: str) -> Way:
    return lambda walker: press(walker.page, walker.find(selector))


def _file(name: str) -> Way:
    return lambda walker: walker.open_file(name)


BAR, CARD, MENU = ".selection-bar", ".approval", ".menu:visible"
LARGE, GIVEN = ".reply .enlarges >> nth=-1", ".person .picture"
DETAILS = ".statusbar > button >> nth=-1"
DELETE = ".session:visible [data-act=delete] >> nth=0"
EXPORT = ".session:visible .export summary >> nth=0"
TITLE, TAGS = ".title-field:visible", ".session:visible [data-act=tag] >> nth=0"
OPENED = "dialog[open] >> nth=-1"


def _to_pane(walker: Walker) -> None:
    """Show the changes, and go to them."""
    if not walker.to_tab("changes"):
        if not walker.find(".pane").is_visible():
            walker.press("Control+j")
        press(walker.page, walker.find(".pane-tab .tab").first)
    expect(walker.find(".file-changes").first).to_be_visible()


def _to_tree(walker: Walker) -> None:
    walker.to_tab("files")
    focus_by_tab(walker.page, walker.find(".tree"))
    walker.press("Home")


def _menu(walker: Walker) -> None:
    _to_tree(walker)
    walker.press("a", "Shift+F10")
    expect(walker.find(".menu [role=menuitem]").first).to_be_focused()


def _form(words: str) -> Way:
    def enter(walker: Walker) -> None:
        _menu(walker)
        item = walker.find(".menu").get_by_text(walker.say(words), exact=True)
        while not item.evaluate("it => it.closest('button') === document.activeElement"):
            walker.press("ArrowDown")
        walker.press("Enter")

    return enter


def _sessions(walker: Walker) -> None:
    walker.press("Control+Shift+f")
    expect(walker.find(".session:visible").first).to_be_visible()


def _export(walker: Walker) -> None:
    _sessions(walker)
    press(walker.page, walker.find(EXPORT))


def _deletion(walker: Walker) -> None:
    _sessions(walker)
    press(walker.page, walker.find(DELETE))


def _from_tools(walker: Walker) -> None:
    walker.open_from_status("Tools …")
    press(walker.page, walker.find(".tools-sheet").get_by_text(walker.say("Try a call …")))


def _model_sheet(walker: Walker) -> None:
    walker.choose("Choose the model")
    press(walker.page, walker.find("dialog").get_by_text(walker.say("What its server accepts")))


def _git(walker: Walker) -> None:
    walker.choose("Git: changes, commit and log")
    expect(walker.find(".git-pane .commit").first).to_be_visible()
    press(walker.page, walker.find(".git-pane summary").first)


def _results(walker: Walker) -> None:
    walker.choose("Results: files handed over")
    expect(walker.find(".results-list > li")).to_have_count(1)


def _terminal(walker: Walker) -> None:
    walker.press("Control+`")
    press(walker.page, walker.find("dialog [data-place=outside]"))
    expect(walker.find(".terminal-view:visible .xterm-helper-textarea")).to_be_focused()


def _preview(walker: Walker) -> None:
    """Have a job serve the folder, and look at that."""
    walker.served.model.replies += [
        call_reply("run_command", command="python3 -m http.server 8000", background=True),
        text_reply("It runs."),
    ]
    send(walker.page, "serve it")
    press(walker.page, walker.find(".offers button").first)
    expect(walker.page.frame_locator("iframe.previewed").locator("body")).to_contain_text("a.py")


def _why(walker: Walker) -> None:
    walker.open_file("a.py")
    expect(walker.find(".cm-focused")).to_have_count(1)
    walker.press(walker.page.evaluate("walk.leaving()"))
    press(walker.page, walker.find(".file-bar:visible button").first, "Shift+Tab")


def _completion(walker: Walker) -> None:
    walker.page.keyboard.type("/")
    expect(walker.find(".completion li").first).to_be_visible()


def _ask(walker: Walker, call: list[Item]) -> None:
    walker.find(".composer select").select_option("ask")
    walker.served.model.replies += [call, text_reply("So.")]
    send(walker.page, "do it")
    expect(walker.find(".approval button.primary").first).to_be_enabled()


def _asked(walker: Walker) -> None:
    _ask(walker, call_reply("run_command", command="echo one"))


def _edited(walker: Walker) -> None:
    _ask(walker, call_reply("run_command", command="echo two"))
    walker.find(".log").focus()
    walker.press("e")


def _own_question(walker: Walker) -> None:
    _ask(walker, call_reply("ask_person", question="Which drink?", choices=["tea", "coffee"]))


def _no(walker: Walker) -> None:
    """Answer what is asked with a no."""
    form = walker.find(".approval form textarea").first
    if form.is_visible():
        focus_by_tab(walker.page, form)
        walker.press("Escape")
        expect(form).to_be_hidden()
    press(
        walker.page, walker.find(".approval > .buttons").get_by_text(walker.say("No"), exact=True)
    )
    expect(walker.find(".reply").last).to_have_text("So.")


def _skip(walker: Walker) -> None:
    press(walker.page, walker.find(".approval form .quiet"))
    expect(walker.find(".reply").last).to_have_text("So.")


def _from_frame(walker: Walker) -> None:
    """Leave what keeps all keys but Tab: the browser's own player, a page of others."""
    focus_by_tab(walker.page, walker.find(".pane-tab .tab").first)
    walker.press("Escape")


def _selection(walker: Walker) -> None:
    select = (
        "it => { it.scrollIntoView({ block: 'center' }); getSelection().selectAllChildren(it); }"
    )
    walker.find(".reply :is(h2, h3, h4, h5, h6)").last.evaluate(select)
    expect(walker.find(".selection-bar")).to_be_visible()


def _notice(walker: Walker) -> None:
    """Give a file the name of another one, which is refused."""
    _form("Rename")(walker)
    walker.press("Control+a")
    walker.page.keyboard.type("table.csv")
    walker.press("Enter")
    expect(walker.find(".notice.bad")).to_be_visible()
    walker.press("Escape")


def _close_notice(walker: Walker) -> None:
    press(walker.page, walker.find(".notice.bad button"), "Shift+Tab")


def _noting(walker: Walker) -> None:
    _selection(walker)
    walker.press("Alt+m")


def _title(walker: Walker) -> None:
    walker.choose("Rename the session")
    expect(walker.find(TITLE)).to_be_focused()


def _tags(walker: Walker) -> None:
    _sessions(walker)
    press(walker.page, walker.find(TAGS))
    expect(walker.find(TITLE)).to_be_focused()


def _conflict(walker: Walker) -> None:
    """Write in a file that is changed on the disk as well, in the same line."""
    walker.open_file("deep.txt")
    expect(walker.find(".cm-focused")).to_have_count(1)
    walker.press("Control+Home")
    walker.page.keyboard.type("mine ")
    (walker.served.project / "docs/deep.txt").write_text("theirs\n")
    expect(walker.find(".conflicts")).to_be_visible()


def _settle(walker: Walker) -> None:
    press(walker.page, walker.find(".conflicts button").last)
    expect(walker.find(".conflicts")).to_have_count(0)
    expect(walker.find(".cm-focused")).to_have_count(1)
    walker.press("Control+s", "Escape")


DIALOGS = (
    Place(
        "everything", ("search/commands.js", "search/choosing_list.js"), OPENED, _keys("Control+k")
    ),
    Place("open a file", ("search/palette.js",), OPENED, _keys("Control+p")),
    Place("settings", ("settings/settings_sheet.js",), OPENED, _keys("Control+,")),
    Place("keys", ("keyboard/shortcuts_sheet.js",), OPENED, _chosen("Keyboard shortcuts")),
    Place("agents", ("agents/agents_sheet.js",), OPENED, _chosen("Agents: what is at work")),
    Place("skills", ("skills/skills_sheet.js",), OPENED, _chosen("Skills: list, install, remove")),
    Place("phone", ("phone/phone_sheet.js",), OPENED, _chosen("Use this page on a phone")),
    Place("model", ("status/model_picker.js",), OPENED, _chosen("Choose the model")),
    Place("server", ("status/model_sheet.js",), OPENED, _model_sheet),
    Place("status", ("status/status_sheet.js",), OPENED, Walker.open_status, back=DETAILS),
    Place("prompt", ("status/prompt_sheet.js",), OPENED, _from_status("Prompt …"), back=DETAILS),
    Place("usage", ("status/figures_sheet.js",), OPENED, _from_status("Usage …"), back=DETAILS),
    Place("tools", ("tools/tools_sheet.js",), OPENED, _from_status("Tools …"), back=DETAILS),
    Place("tester", ("tools/tester_sheet.js",), OPENED, _from_tools, back=DETAILS),
    Place(
        "always allowed",
        ("approval/kept_sheet.js",),
        OPENED,
        _from_status("Always allowed …"),
        back=DETAILS,
    ),
    Place("picture of an answer", ("markdown/large.js",), OPENED, _press(LARGE), back=LARGE),
    Place("picture of a message", ("conversation/picture.js",), OPENED, _press(GIVEN), back=GIVEN),
    Place("new terminal", ("terminal/terminals.js",), OPENED, _keys("Control+`")),
    Place("sessions", ("sessions/sessions.js",), ".sessions-view:visible", _sessions, stays=True),
    Place(
        "export",
        ("sessions/session_row.js",),
        ".export-list:visible",
        _export,
        back=EXPORT,
        is_menu=True,
    ),
    Place("title", ("sessions/title_field.js",), TITLE, _title, is_menu=True, back=":focus"),
    Place(
        "tags",
        ("sessions/title_field.js",),
        TITLE,
        _tags,
        is_menu=True,
        back=".session:visible .choose",
    ),
    Place("deletion", ("dialogs/dialog.js",), "dialog.ask", _deletion, back=DELETE),
)
PARTS = (
    Place("tree", ("tree/tree.js",), ".files", _to_tree, stays=True),
    Place("menu", ("tree/file_menu.js",), MENU, _menu, back=".tree", is_menu=True),
    Place("new name", ("tree/file_menu.js",), MENU, _form("Rename"), back=".tree"),
    Place("note", ("tree/file_menu.js",), MENU, _form("Add a note"), back=".tree"),
    Place("changes", ("changes/changes.js",), ".pane", _to_pane, stays=True),
    Place("git", ("git/git_pane.js",), ".pane", _git, stays=True),
    Place("results", ("results/results_pane.js",), ".pane", _results, stays=True),
    Place("file", ("editor/file_view.js",), ".pane", _file("a.py"), stays=True),
    Place("conflict", ("editor/file_notices.js",), ".pane", _conflict, leave=_settle, stays=True),
    Place("why", ("editor/why_panel.js",), ".pane", _why, stays=True),
    Place("table", ("editor/preview.js",), ".pane", _file("table.csv"), stays=True),
    Place("text", ("editor/preview.js",), ".pane", _file("text.md"), stays=True),
    Place("page", ("editor/running_page.js",), ".pane", _file("page.html"), stays=True),
    Place("bytes", ("editor/file_view.js",), ".pane", _file("bytes.bin"), stays=True),
    Place(
        "sound", ("editor/preview.js",), ".pane", _file("tone.wav"), leave=_from_frame, stays=True
    ),
    Place("drawing", ("editor/preview.js",), ".pane", _file("plot.png"), stays=True),
    Place("notebook", ("editor/notebook.js",), ".pane", _file("work.ipynb"), stays=True),
    Place(
        "terminal",
        ("terminal/terminal_view.js",),
        ".pane",
        _terminal,
        leave=_keys("Control+`"),
        stays=True,
    ),
    Place("preview", ("previews/previews.js",), ".pane", _preview, leave=_from_frame, stays=True),
)
QUESTIONS = (
    Place(
        "completion",
        ("composer/completion.js",),
        ".composer",
        _completion,
        leave=_keys("Escape", "Control+a", "Delete"),
        stays=True,
    ),
    Place("selection", ("selection/selection.js",), BAR, _selection),
    Place("noting", ("selection/selection.js",), BAR, _noting),
    Place(
        "notice",
        ("notices/notices.js",),
        ".notice.bad",
        _notice,
        leave=_close_notice,
        back=":focus",
    ),
    Place("approval", ("approval/question.js", "approval/approval.js"), CARD, _asked, leave=_no),
    Place("editing", ("approval/arguments_form.js",), CARD, _edited, leave=_no),
    Place("question", ("approval/person_question.js",), CARD, _own_question, leave=_skip),
)
