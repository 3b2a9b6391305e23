"""A project in which every place of the page has something to show, and a talk that does."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.modules.git.person.repositories import commit_file, make_repository
from tests.page.served_page import ServedPage, replies, send
from tests.page.test_glass_prompt import logged
from tests.page.test_pictures_given import paste
from tests.page.test_rich_files import sound, write_notebook
from tests.picture_files import picture_file
from tests.scripted_model import call_reply, calls_reply, text_reply

ANSWER = """### Done

| a | b |
|---|---|
| 1 | 2 |

```python
x = 1
```

![the plot](plot.png) and `a.py:2`, [a page](https://example.com), $x^2$.

- [ ] one
- [x] two

```mermaid
flowchart LR
  A[Start] --> B[End]
```
"""
TODOS = [{"title": "Look", "status": "completed"}, {"title": "Mend", "status": "in_progress"}]


def fill(project: Path) -> None:
    make_repository(project)
    commit_file(project, "a.py", "one = 1\ntwo = 2\n", "Begin")
    (project / "docs").mkdir()
    texts = {
        "docs/deep.txt": "deep\n",
        "page.html": "<h1>Hi</h1>",
        "table.csv": "tree,apples\nBoskoop,12\n",
        "text.md": "# Title\n\n- [ ] one\n\n[a](a.py)\n",
        "untracked.txt": "new\n",
        "view.svg": "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
    }
    for name, text in texts.items():
        (project / name).write_text(text)
    (project / "plot.png").write_bytes(picture_file(size=(60, 40)))
    (project / "bytes.bin").write_bytes(bytes(range(256)))
    sound(project / "tone.wav")
    write_notebook(project / "work.ipynb", "<p>out</p>")


def talk(served: ServedPage, page: Page) -> None:
    """Have a task with every usual kind of card in it."""
    looks = calls_reply(
        ("r1", "read_file", '{"path": "a.py"}'),
        ("r2", "list_files", "{}"),
        thinking="Let me look.",
    )
    served.model.replies += [
        [logged(served.model), *looks],
        call_reply("update_todos", id="t", todos=TODOS),
        call_reply("modify_file", id="m", path="a.py", operation="replace", old="one", new="uno"),
        call_reply("run_command", id="x", command="printf '\\033[31mred\\033[0m\\n'; exit 3"),
        call_reply("hand_over", id="h", path="plot.png", kind="chart", title="How it grew"),
        call_reply("delegate", id="d", task="find the colour"),
        call_reply("read_file", id="dr", path="a.py"),
        text_reply("It is blue."),
        text_reply(ANSWER),
        text_reply("One task is left."),  # asked, for there is one
    ]
    paste(page, "given.png", picture_file(size=(60, 40)))
    expect(page.locator(".attached img")).to_have_count(1)
    send(page, "go")
    expect(replies(page).get_by_role("heading")).to_be_visible()
    expect(page.locator("footer.end")).to_have_count(1)
