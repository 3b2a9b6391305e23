"""pip in the sandbox installs from where the person's own pip does, and learns no password."""

from __future__ import annotations

import base64
import hashlib
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from modules.sandbox.network.fetch import fetch
from modules.sandbox.network.own_config import origin_at
from modules.sandbox.network.package_index import default_hosts, network_of, pip_settings
from modules.sandbox.network.proxy import Proxy
from modules.sandbox.sandbox import Limits, Network, Program
from modules.sandbox.types import CERTIFICATES_PATH, Origin
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process
from utils.waiting import Stop

PASSWORD = "s3cret-of-the-index"
LETS_IN = "Basic " + base64.b64encode(f"me:{PASSWORD}".encode()).decode()


# What the settings mean


def test_without_settings_it_is_pips_own_index() -> None:
    index, files = default_hosts()
    found = network_of({})
    assert found.hosts == (index, files)
    assert found.origins == (Origin("https", index), Origin("https", files))
    assert found.variables == {"PIP_NO_INPUT": "1"}
    assert "." in index
    assert "." in files


def test_an_ordinary_index_is_reached_by_the_program_itself() -> None:
    settings = {
        "index-url": "https://pip.example.org/simple",
        "extra-index-url": "https://near.example.org:8443/x\nftp://no.example.org nonsense",
    }
    found = network_of(settings, ("more.example.org",))
    assert found.names() == ("pip.example.org", "more.example.org", "near.example.org:8443")
    assert found.variables["PIP_EXTRA_INDEX_URL"] == "https://near.example.org:8443/x"


def test_a_password_is_in_nothing_that_is_shown() -> None:
    found = network_of({"index-url": f"https://me:{PASSWORD}@pip.example.org/repo/simple"})
    assert PASSWORD not in repr(found)
    assert found.variables == {
        "PIP_INDEX_URL": "http://pip.example.org:443/repo/simple",
        "PIP_TRUSTED_HOST": "pip.example.org:443",
        "PIP_NO_INPUT": "1",
    }
    (origin,) = found.origins
    assert (origin.authorization, origin.path) == (LETS_IN, "/repo")


def test_a_token_without_a_user_is_in_nothing_that_is_shown() -> None:
    network = network_of({"index-url": "https://:s3cret-token@pypi.example.org/simple"})
    assert "s3cret-token" not in str(dict(network.variables))
    (origin,) = network.origins
    assert base64.b64decode(origin.authorization.split()[1]) == b":s3cret-token"


def test_a_password_in_netrc_counts(tmp_path: Path) -> None:
    with home_of_process(tmp_path) as sandbox_home:
        (sandbox_home.home / ".netrc").write_text(
            f"machine pip.example.org login me password {PASSWORD}"
        )
        (sandbox_home.home / ".netrc").chmod(0o600)
        (origin,) = network_of({"index-url": "https://pip.example.org/simple"}).origins
    assert origin.authorization == LETS_IN


def test_our_own_machine_has_another_name_inside() -> None:
    found = network_of({"index-url": "http://localhost:3141/root/pypi/+simple/"})
    assert found.variables["PIP_INDEX_URL"] == "http://this-machine:3141/root/pypi/+simple/"
    assert found.origins[0].path == "/root/pypi"
    assert found.names() == ("localhost:3141",)


def test_local_places_are_folders(tmp_path: Path) -> None:
    (tmp_path / "index/simple").mkdir(parents=True)
    (tmp_path / "ca.pem").touch()
    found = network_of(
        {
            "index-url": f"file://{tmp_path}/index/simple",
            "find-links": f"{tmp_path} relative /missing",
            "cert": str(tmp_path / "ca.pem"),
        }
    )
    assert found.folders == (tmp_path / "index", tmp_path)
    assert found.variables["PIP_FIND_LINKS"] == str(tmp_path)
    assert (found.certificates, found.variables["PIP_CERT"]) == (
        tmp_path / "ca.pem", str(CERTIFICATES_PATH),
    )  # fmt: skip


def test_the_environment_is_stronger_than_the_files(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = https://weak.example.org/simple\n")
    variables = {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")}
    assert pip_settings(variables)["index-url"] == "https://weak.example.org/simple"
    variables["PIP_INDEX_URL"] = "https://strong.example.org/simple"
    assert pip_settings(variables)["index-url"] == "https://strong.example.org/simple"


# What a program gets


@pytest.fixture
def sandbox_home(tmp_path: Path) -> Iterator[SandboxHome]:
    with home_of_process(tmp_path) as made:
        yield made


@dataclass
class Index:
    """A server with one package below /repo, which lets in who has the password if it wants one."""

    base: Path
    wants_password: bool = False
    secure: ssl.SSLContext | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(path, what was sent to be let in)"""

    @property
    def wheel(self) -> bytes:
        path = self.base / "onlyours-1.0-py3-none-any.whl"
        if not path.exists():
            about = "Metadata-Version: 2.1\nName: onlyours\nVersion: 1.0\n"
            kind = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            with zipfile.ZipFile(path, "w") as file:
                file.writestr("onlyours.py", "x = 42\n")
                file.writestr("onlyours-1.0.dist-info/METADATA", about)
                file.writestr("onlyours-1.0.dist-info/WHEEL", kind)
                file.writestr("onlyours-1.0.dist-info/RECORD", "onlyours.py,,\n")
        return path.read_bytes()

    @contextmanager
    def served(self) -> Iterator[int]:
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.append((self.path, self.headers.get("Authorization", "")))
                status, kind, data = index.answer(self.path, self.headers.get("Authorization"))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.port = server.server_port
            if self.secure:
                server.socket = self.secure.wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield self.port
            server.shutdown()

    def answer(self, path: str, sent: str | None) -> tuple[int, str, bytes]:
        if self.wants_password and sent != LETS_IN:
            return 401, "text/plain", b"who are you?"
        if path == "/repo/simple/onlyours/":
            scheme = "https" if self.secure else "http"
            file = f"{scheme}://localhost:{self.port}/repo/files/onlyours-1.0-py3-none-any.whl"
            digest = hashlib.sha256(self.wheel).hexdigest()
            page = f'<a href="{file}#sha256={digest}">onlyours-1.0-py3-none-any.whl</a>'
            return 200, "text/html", page.encode()
        if path == "/repo/files/onlyours-1.0-py3-none-any.whl":
            return 200, "application/zip", self.wheel
        return 404, "text/plain", b"nothing"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for localhost that nobody signed but itself, and a server's use of it."""
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,DNS:index.test", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return cert, context


@pytest.fixture
def venv(sandbox_home: SandboxHome) -> Path:
    folder = sandbox_home.project / ".venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder


def bash(sandbox_home: SandboxHome, code: str, network: Network) -> str:
    run = sandbox_home.sandbox().run(Program("bash", code), Limits(), Stop(), network)
    return "".join(run)


INSTALL = "pip install -q onlyours 2>&1; python -c 'import onlyours; print(onlyours.x)' 2>&1"
LOOK = "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline ~/.netrc 2>&1"


def test_pip_installs_from_a_plain_http_index_with_a_password(
    sandbox_home: SandboxHome, venv: Path
) -> None:
    index = Index(sandbox_home.home, wants_password=True)
    with index.served() as port:
        network = network_of({"index-url": f"http://me:{PASSWORD}@localhost:{port}/repo/simple"})
        said = bash(sandbox_home, f"{INSTALL}; {LOOK}", network)
        assert said.startswith("42\n")
        assert PASSWORD not in said
        assert LETS_IN not in said
        assert [path for path, _ in index.asked][:1] == ["/repo/simple/onlyours/"]
    assert venv.is_dir()


def test_pip_installs_from_a_secure_index_with_a_password_and_its_own_certificates(
    sandbox_home: SandboxHome, venv: Path, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    cert, context = certificate
    index = Index(sandbox_home.home, wants_password=True, secure=context)
    with index.served() as port:
        url = f"https://me:{PASSWORD}@localhost:{port}/repo/simple"
        said = bash(sandbox_home, INSTALL, network_of({"index-url": url, "cert": str(cert)}))
        assert said == "42\n"
        assert "Installed" not in said
        asked = len(index.asked)
        ask = "import os, urllib.request as r; r.urlopen(os.environ['PIP_INDEX_URL'])"
        distrusted = bash(sandbox_home, f'python -c "{ask}" 2>&1', network_of({"index-url": url}))
        assert "does not answer (SSLCertVerificationError)" in distrusted
        assert PASSWORD not in distrusted
        assert len(index.asked) == asked
    assert venv.is_dir()


def test_pip_installs_from_folders_that_pip_is_configured_with(
    sandbox_home: SandboxHome, venv: Path
) -> None:
    folder = sandbox_home.home / "wheels"
    folder.mkdir()
    Index(folder).wheel  # noqa: B018 - it is made
    (sandbox_home.home / "beside").write_text(PASSWORD)
    settings = {"index-url": "https://pip.invalid/simple", "find-links": str(folder)}
    code = "pip install -q --no-index onlyours; python -c 'import onlyours; print(onlyours.x)'"
    said = bash(
        sandbox_home,
        f"({code}; touch {folder}/x; ls {sandbox_home.home}) 2>&1",
        network_of(settings),
    )
    assert said.startswith("42\n")
    assert "Read-only" in said
    assert "beside" not in said
    assert venv.is_dir()


ASK = """
import http.client, sys
for method, address in {asked!r}:
    line = http.client.HTTPConnection("127.0.0.1", 3128, timeout=120)
    line.request(method, address, headers={{"Authorization": "Basic bWFkZTp1cA=="}})
    answer = line.getresponse()
    print(answer.status, answer.read().decode()[:20])
"""


def test_nothing_else_of_that_server_gets_the_password(sandbox_home: SandboxHome) -> None:
    index = Index(sandbox_home.home, wants_password=True)
    with index.served() as port:
        network = network_of({"index-url": f"http://me:{PASSWORD}@localhost:{port}/repo/simple"})
        inside = f"http://this-machine:{port}"
        asked = [
            ("GET", f"{inside}/repo/simple/onlyours/"),
            ("GET", f"{inside}/admin/token"),
            ("GET", f"{inside}/repo/../admin"),
            ("GET", f"{inside}/repo/%2e%2e/admin"),
            ("GET", f"{inside}/repo/%252e%252e/admin"),
            ("GET", f"{inside}/repo/..;/admin"),
            ("GET", f"{inside}/repo/%2e%2e%3b/admin"),
            ("GET", f"{inside}/repo//admin"),
            ("GET", f"{inside}/repository"),
            ("POST", f"{inside}/repo/simple/"),
            ("GET", f"http://localhost:{port}/repo/simple/"),
            ("GET", f"http://this-machine:{port + 1}/"),
            ("GET", f"http://this-machine@localhost:{port}/"),
        ]
        said = sandbox_home.sandbox().run(
            Program("python", ASK.format(asked=asked)), Limits(), Stop(), network
        )
        codes = [line[:3] for line in "".join(said).splitlines()]
    assert codes == ["200", *["401"] * 8, *["403"] * 4]
    assert [sent for path, sent in index.asked if sent] == [LETS_IN]


def test_each_folder_of_one_server_gets_its_own_login(tmp_path: Path) -> None:
    index = Index(tmp_path)
    with index.served() as port:
        places = ("localhost:{}/npm/", "me:gem@localhost:{}/gems/", "me:go@localhost:{}/go",
                  "me:team@localhost:{}/go/team")  # fmt: skip
        found = [origin_at(f"http://{place.format(port)}") for place in places]
        for path in ("/npm/x", "/gems/x", "/go/x", "/go/team/x", "/gems2/x", "/go/../gems/x"):
            head = f"GET http://this-machine:{port}{path} HTTP/1.1\r\n\r\n"
            list(fetch(head.encode(), [one[0] for one in found if one]))
    sent = [base64.b64decode(login.removeprefix("Basic ")).decode() for _, login in index.asked]
    assert sent == ["", "me:gem", "me:go", "me:team", "", ""]


@pytest.mark.parametrize("form", [f"me:{PASSWORD}", PASSWORD, LETS_IN, LETS_IN.split()[1]])
@pytest.mark.parametrize("kind", ["text/html", "application/zip"])
def test_an_answer_that_repeats_the_login_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, kind: str
) -> None:
    index = Index(tmp_path)
    text = b"x" * 65_530 + form.encode() + b"x" * 70_000
    monkeypatch.setattr(index, "answer", lambda *_: (200, kind, text))
    with index.served() as port:
        found = origin_at(f"http://me:{PASSWORD}@localhost:{port}/repo")
        assert found
        head = f"GET http://this-machine:{port}/repo/x HTTP/1.1\r\n\r\n".encode()
        came: list[bytes] = []
        with pytest.raises(OSError, match="lets the person in"):
            came.extend(fetch(head, [found[0]]))
    assert came[0].startswith(b"HTTP/1.1 200")
    assert PASSWORD.encode() not in b"".join(came)
    assert LETS_IN.split()[1].encode() not in b"".join(came)


def test_only_the_configured_port_of_a_near_server_is_reached(
    sandbox_home: SandboxHome,
    certificate: tuple[Path, ssl.SSLContext],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = Index(sandbox_home.home, secure=certificate[1])
    near = partial(Proxy, resolve=lambda _host, _port: ["127.0.0.1"])
    monkeypatch.setattr("modules.sandbox.sandbox.Proxy", near)
    with index.served() as port:
        network = network_of({"index-url": f"https://index.test:{port}/repo/simple"})
        assert network.names() == (f"index.test:{port}",)
        code = (
            "import socket\n"
            "for place in ('index.test:PORT', 'index.test:443', 'other.test:PORT'):\n"
            "    line = socket.create_connection(('127.0.0.1', 3128))\n"
            "    line.sendall(f'CONNECT {place} HTTP/1.1\\r\\n\\r\\n'.encode())\n"
            "    print(line.recv(1000).split(b'\\r\\n')[0].decode()[:12])"
        )
        run = sandbox_home.sandbox().run(
            Program("python", code.replace("PORT", str(port))), Limits(), Stop(), network
        )
        assert "".join(run).split("\n")[:3] == ["HTTP/1.1 200", "HTTP/1.1 403", "HTTP/1.1 403"]
