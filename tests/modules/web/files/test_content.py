"""Files through the API: races with other writers, hostile names, harmless previews."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from modules.web.files import file_names
from tests.modules.web.serving import RunningServer
from tests.scripted_model import text_reply

Serve = Callable[..., AbstractContextManager[RunningServer]]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def entries(served: RunningServer, path: str = "") -> dict[str, Any]:
    listed = served.ask("GET", f"/api/files?path={quote(path)}").json["entries"]
    return {entry["name"]: entry for entry in listed}


def write(served: RunningServer, path: str, text: str, base: str | None) -> Any:
    return served.ask("PUT", "/api/files/text", {"path": path, "text": text, "base": base})


def test_a_folder_is_listed_with_what_there_is_to_know(served: RunningServer) -> None:
    root = served.project
    git = ("git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@t")
    (root / "kept.txt").write_text("1")
    (root / "sub").mkdir()
    (root / "sub" / "deep.txt").write_text("1")
    (root / ".gitignore").write_text("*.log\n/out/\n")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *command], check=True)
    (root / "sub" / "deep.txt").write_text("other")
    (root / "new.txt").write_text("1")
    (root / "a.log").write_text("1")
    (root / "out").mkdir()
    (root / "out" / "x").write_text("1")
    (root / "empty").mkdir()
    (root / "link").symlink_to("/etc")
    (root / "\u202egpj.exe").write_text("1")
    served.ask("PUT", "/api/files/note", {"path": "kept.txt", "note": "mind this"})
    listed = entries(served)
    told = {name: (e["kind"], e["ignored"], e["git"]) for name, e in listed.items()}
    assert told == {
        "empty": ("folder", False, ""),
        "out": ("folder", True, ""),
        "sub": ("folder", False, "M"),
        ".gitignore": ("file", False, ""),
        "a.log": ("file", True, ""),
        "kept.txt": ("file", False, ""),
        "link": ("link", False, "?"),
        "new.txt": ("file", False, "?"),
        "\\u202egpj.exe": ("file", False, "?"),
    }
    assert listed["kept.txt"]["note"] == "mind this"
    assert entries(served, "sub")["deep.txt"]["git"] == "M"
    files = served.ask("GET", "/api/files/list").json["files"]
    assert "sub/deep.txt" in files
    assert "a.log" not in files
    # The name that is shown is one that is understood.
    assert served.ask("GET", f"/api/files/text?path={quote(files[-1])}").status == 200


def test_only_another_content_makes_a_file_modified_and_the_index_stays(
    served: RunningServer,
) -> None:
    root = served.project
    git = ("git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@t")
    (root / "sub").mkdir()
    for name in ("touched.txt", "sub/touched.txt", "other.txt", "both.txt"):
        (root / name).write_text("1")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *command], check=True)
    (root / "both.txt").write_text("2")
    for command in (("checkout", "-qb", "two"), ("commit", "-qam", "2"), ("checkout", "-q", "-")):
        subprocess.run([*git, *command], check=True)
    (root / "both.txt").write_text("3")
    subprocess.run([*git, "commit", "-qam", "3"], check=True)
    assert subprocess.run([*git, "merge", "-q", "two"], capture_output=True).returncode == 1
    (root / "other.txt").write_text("2")
    for name in ("touched.txt", "sub/touched.txt", "other.txt"):
        os.utime(root / name, (1_000_000_000, 1_000_000_000))
    index = (root / ".git" / "index").read_bytes()
    told = {name: entry["git"] for name, entry in entries(served).items()}
    assert told == {"both.txt": "U", "other.txt": "M", "sub": "", "touched.txt": ""}
    assert (root / ".git" / "index").read_bytes() == index


def test_a_filter_of_a_foreign_repository_does_not_run(
    served: RunningServer, tmp_path: Path
) -> None:
    root = served.project
    git = ("git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@t")
    (root / "a.txt").write_text("1")
    (root / ".gitattributes").write_text("* filter=evil\nb.txt filter=a.b=c\n")
    (root / "b.txt").write_text("1")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *command], check=True)
    evil = f"touch {tmp_path}/ran"
    for setting in ("filter.evil.clean", "filter.evil.process", "filter.a.b=c.clean"):
        subprocess.run([*git, "config", setting, evil], check=True)
    subprocess.run([*git, "config", "core.fsmonitor", f"touch {tmp_path}/ran"], check=True)
    (root / "a.txt").write_text("2")
    (root / "b.txt").write_text("2")
    assert entries(served)["a.txt"]["git"] == "M"
    assert not (tmp_path / "ran").exists()


def test_a_file_is_written_only_over_what_was_read(served: RunningServer) -> None:
    file = served.project / "a.txt"
    file.write_bytes("\ufeffeins\r\nzwei\r\n".encode("utf-8"))
    read = served.ask("GET", "/api/files/text?path=a.txt").json
    assert (read["text"], read["encoding"]) == ("eins\nzwei\n", "UTF-8 with BOM, CRLF")
    written = write(served, "a.txt", "eins\ndrei\n", read["hash"])
    assert file.read_bytes() == "\ufeffeins\r\ndrei\r\n".encode("utf-8")
    assert written.json["hash"] == sha(file.read_bytes())
    file.write_bytes(b"theirs\n")
    refused = write(served, "a.txt", "mine\n", written.json["hash"])
    assert (refused.status, refused.json["code"]) == (409, "changed")
    assert (refused.json["text"], refused.json["hash"]) == ("theirs\n", sha(b"theirs\n"))
    assert file.read_bytes() == b"theirs\n"
    file.unlink()
    gone = write(served, "a.txt", "mine\n", refused.json["hash"])
    assert (gone.status, gone.json["text"], gone.json["hash"]) == (409, None, None)
    assert write(served, "new/b.txt", "x", None).status == 200
    assert write(served, "new/b.txt", "y", None).status == 409


@pytest.mark.parametrize("levels", [1_500, 5_000])
def test_a_file_beneath_more_folders_than_anybody_means_is_refused(
    served: RunningServer, levels: int
) -> None:
    path = "d/" * levels + "f.txt"
    answer = write(served, path, "x", None)
    assert (answer.status, answer.json["code"]) == (422, "failed")
    assert "100 at most" in answer.json["error"]
    for method, where, body in (
        ("POST", "/api/files/folder", {"path": path}),
        ("POST", f"/api/files/upload?name=f.txt&folder={path}", b"x"),
    ):
        assert served.ask(method, where, body).status == 422
    (served.project / "f.txt").write_text("x")
    moved = served.ask("POST", "/api/files/rename", {"path": "f.txt", "new_path": path})
    assert moved.status == 422
    assert [one.name for one in served.project.iterdir()] == ["f.txt"]


def test_what_cannot_be_written_or_moved_makes_no_folder(served: RunningServer) -> None:
    (served.project / "f.txt").write_text("x")
    long = f"new/folder/{'n' * 300}"
    assert write(served, long, "x", None).status == 422
    moved = served.ask("POST", "/api/files/rename", {"path": "gone.txt", "new_path": "new/f.txt"})
    assert moved.status == 404
    assert [one.name for one in served.project.iterdir()] == ["f.txt"]


def test_paths_that_lead_out_are_refused(served: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (served.project / "link.txt").symlink_to(tmp_path / "secret.txt")
    (served.project / "dir").symlink_to(tmp_path)
    os.mkfifo(served.project / "pipe")
    paths = ["../secret.txt", "/etc/passwd", "link.txt", "dir/secret.txt", "pipe", ".git/config"]
    for path in [*paths, "a\0b"]:
        for route in ("text", "download"):
            answer = served.ask("GET", f"/api/files/{route}?path={quote(path)}")
            assert answer.status in (404, 422), path
            assert b"secret" not in answer.body.replace(b"secret.txt", b"")
        assert write(served, path, "x", None).status in (404, 409, 422), path
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_previews_run_nothing(served: RunningServer) -> None:
    root = served.project
    (root / "page.html").write_text("<script>alert(1)</script>")
    (root / "pic.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    (root / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (root / "run.js").write_text("alert(1)")
    for name in ("page.html", "pic.svg"):
        shown = served.ask("GET", f"/api/files/raw?path={name}")
        policy = shown.headers["content-security-policy"]
        assert policy.startswith("sandbox; default-src 'none'")
        assert shown.headers["x-content-type-options"] == "nosniff"
    assert served.ask("GET", "/api/files/raw?path=pic.png").headers["content-type"] == "image/png"
    (root / "old.html").write_bytes("<meta charset=gbk>报告".encode("gbk"))
    for name, kind in {"page": "text/html; charset=utf-8", "old": "text/html"}.items():
        shown = served.ask("GET", f"/api/files/raw?path={name}.html")
        assert shown.headers["content-type"] == kind
    assert served.ask("GET", "/api/files/raw?path=run.js").status == 415
    sent = served.ask("GET", "/api/files/download?path=page.html")
    assert sent.headers["content-type"] == "application/octet-stream"
    assert sent.headers["content-disposition"].startswith("attachment;")
    binary = served.ask("GET", "/api/files/text?path=pic.png")
    assert (binary.status, binary.json["code"]) == (415, "binary")
    assert binary.json["preview"] == "image"


def test_an_upload_keeps_its_script_and_replaces_nothing(served: RunningServer) -> None:
    name = quote("中文 报告.md")
    kind = {"Content-Type": "application/octet-stream"}
    up = f"/api/files/upload?folder=docs&name={name}"
    assert served.ask("POST", up, b"one", kind).json["path"] == "docs/中文 报告.md"
    assert served.ask("POST", up, b"two", kind).json["code"] == "exists"
    assert served.ask("POST", f"{up}&replace=1", b"two", kind).status == 201
    assert (served.project / "docs" / "中文 报告.md").read_bytes() == b"two"
    big = {"Content-Length": "99000000", **kind}
    assert served.ask("POST", up, b"", big).status == 413


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a.txt", "a.txt"),
        ("cafe\u0301.txt", "café.txt"),
        ("\u202egpj.exe", "gpj.exe"),
        ("a\x00b\x1f.txt", "ab.txt"),
        ("dots...", "dots"),
        ("..", ""),
        (".git", ""),
        ("con.txt", "_con.txt"),
        ("nul .txt", "_nul .txt"),
        ("COM¹", "_COM¹"),
        ("conin$", "_conin$"),
        ("constant.txt", "constant.txt"),
        (".g\u200cit", ""),
        ("GIT~1 .", ""),
        ("a" * 239 + ". .b", "a" * 238 + ".b"),
        ("报告" * 100 + ".md", "报告" * 39 + "报.md"),
    ],
)
def test_names_are_made_harmless(name: str, harmless: str) -> None:
    assert file_names.sanitize(name) == harmless


def test_the_model_is_told_what_the_person_changed(serve: Serve) -> None:
    with serve(text_reply("one"), text_reply("two")) as served, served.page() as page:
        session = served.new_session()
        page.attach(session)
        write(served, "a.txt", "x", None)
        assert page.wait_for("files", by="person")["paths"][0]["path"] == "a.txt"
        page.call("send", session=session, cmd="c1", text="hi")
        page.wait_for("state", running=False)
        told = [m["content"] for m in served.model.requests[0] if m["role"] == "system"]
        assert told[-1] == "The person changed files by hand: created a.txt."
        page.call("send", session=session, cmd="c2", text="again")
        page.wait_for("TurnStarted", turn=2)
        page.wait_for("state", running=False)
        assert str(served.model.requests[1]).count("by hand") == 1


def test_what_others_change_in_sight_is_told(served: RunningServer) -> None:
    (served.project / "a.txt").write_text("1")
    with served.page() as page:
        page.call("watch", folders=[""], files=["a.txt"])
        served.server._watcher.poll()
        (served.project / "b.txt").write_text("1")
        (served.project / "a.txt").write_text("22")
        served.server._watcher.poll()
        told = page.wait_for("files", by="outside")
        assert told["folders"] == [""]
        assert told["paths"] == [{"kind": "modified", "path": "a.txt", "new_path": ""}]


def test_focus_and_notes_by_click(served: RunningServer) -> None:
    (served.project / "a b.txt").write_text("content")
    session = served.new_session()
    on = {"session": session, "path": "a b.txt", "on": True}
    focus = served.ask("POST", "/api/files/focus", on).json["focus"]
    assert [one["path"] for one in focus] == ["a b.txt"]
    listed = served.ask("GET", f"/api/files?session={session}").json["entries"]
    assert [e["focus"] for e in listed] == [True]
    assert served.ask("POST", "/api/files/focus", on | {"on": False}).json == {"focus": []}
    missing = served.ask("POST", "/api/files/focus", on | {"path": "none"})
    assert missing.status == 422
    assert "none" in missing.json["error"]


def test_a_film_that_is_asked_for_in_parts_is_hashed_once(
    served: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = served.project / "film.mp4"
    hashed = []

    def counted(data: bytes) -> str:
        hashed.append(data)
        return sha(data)

    def tag(first: int) -> str:
        headers = {"Range": f"bytes={first}-{first + 9}"}
        answer = served.ask("GET", "/api/files/raw?path=film.mp4", headers=headers)
        assert (answer.status, answer.body) == (206, film.read_bytes()[first : first + 10])
        return answer.headers["etag"]

    monkeypatch.setattr("modules.web.files.content.digest", counted)
    film.write_bytes(bytes(range(256)))
    os.utime(film, (1, 1))
    tags = {tag(first) for first in (0, 50, 100)}
    assert tags == {f'"{sha(film.read_bytes())}"'}
    assert len(hashed) == 1
    film.write_bytes(bytes(range(255, -1, -1)))
    os.utime(film, (2, 2))
    assert tag(0) == f'"{sha(film.read_bytes())}"'
    film.write_bytes(bytes(256))  # just now: another change might bear the same time
    assert tag(0) == f'"{sha(film.read_bytes())}"'
