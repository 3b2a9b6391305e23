"""Package managers find inside what the person configured, but what lets the person in."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from modules.sandbox.network.compiled_registries import (
    cargo_registries,
    go_registries,
    uv_registries,
)
from modules.sandbox.network.javascript_registries import javascript_registries
from modules.sandbox.network.other_registries import (
    composer_registries,
    maven_registries,
    ruby_registries,
)
from modules.sandbox.network.own_config import OwnConfig, Registries
from modules.sandbox.network.packages import USUAL_INDEXES, package_network
from modules.sandbox.types import Origin
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process

TOKEN = "CANARY-of-the-registry"
ME = "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()


@pytest.fixture
def sandbox_home(tmp_path: Path) -> Iterator[SandboxHome]:
    with home_of_process(tmp_path) as made:
        yield made


def own(house: SandboxHome, variables: Mapping[str, str] | None = None, /, **_: str) -> OwnConfig:
    return OwnConfig(house.home, house.project, variables or {})


def write(house: SandboxHome, name: str, text: str) -> None:
    path = house.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)


def logins(found: Registries) -> set[tuple[str, str, str]]:
    """Return where each login holds; none of them is in what programs see."""
    assert TOKEN not in f"{found.variables} {found.files} {found!r}"
    assert ME.split()[1] not in f"{found.variables} {found.files} {found!r}"
    return {(one.host, one.path, one.authorization) for one in found.origins}


def test_npm_has_its_registries_and_scopes(sandbox_home: SandboxHome) -> None:
    write(
        sandbox_home,
        ".npmrc",
        "; mine\nregistry = https://npm.corp.example/all/\n"
        "@team:registry=https://npm.corp.example:8443/team\n"
        "//npm.corp.example/all/:_authToken=${NPM_TOKEN}\n"
        f"//npm.corp.example:8443/team/:_auth={ME.split()[1]}\n"
        f"//other.example/:_authToken='{TOKEN}'\n//old.example/:username=me\n"
        f"//old.example/:_password={base64.b64encode(TOKEN.encode()).decode()}\n",
    )
    found = javascript_registries(own(sandbox_home, {"NPM_TOKEN": TOKEN}))
    assert logins(found) == {
        ("npm.corp.example", "/all", f"Bearer {TOKEN}"), ("npm.corp.example", "/team", ME),
        ("other.example", "", f"Bearer {TOKEN}"), ("old.example", "", ME),
    }  # fmt: skip
    assert found.files == {
        ".npmrc": "registry=https://npm.corp.example/all/\n"
        "@team:registry=https://npm.corp.example:8443/team\n"
    }
    assert all(one.is_intercepted for one in found.origins)


def test_a_registry_of_this_machine_or_without_https_is_asked_by_us(
    sandbox_home: SandboxHome,
) -> None:
    variables = {"npm_config_registry": "http://localhost:4873/", "GOPROXY": "http://10.0.0.5/go"}
    npm = javascript_registries(own(sandbox_home, variables))
    go = go_registries(own(sandbox_home, variables))
    assert npm.files == {".npmrc": "registry=http://this-machine:4873/\n"}
    assert npm.origins == (Origin("http", "localhost", 4873, alias="this-machine:4873"),)
    assert go.variables["GOPROXY"] == "http://10.0.0.5:80/go"
    assert go.origins == (Origin("http", "10.0.0.5", 80, alias="10.0.0.5:80", path="/go"),)


def test_yarn_has_what_is_its_own(sandbox_home: SandboxHome) -> None:
    write(
        sandbox_home,
        ".yarnrc.yml",
        f'npmRegistryServer: "https://yarn.example/y"\nnpmAuthToken: "{TOKEN}"\n',
    )
    write(sandbox_home, ".yarnrc", 'registry "https://old.example"\n')
    found = javascript_registries(own(sandbox_home))
    assert logins(found) == {
        ("yarn.example", "/y", f"Bearer {TOKEN}"), ("old.example", "", ""),
    }  # fmt: skip
    assert found.variables == {"YARN_NPM_REGISTRY_SERVER": "https://yarn.example/y"}
    assert found.files == {".yarnrc": 'registry "https://old.example"\n'}


def test_cargo_has_its_registries_and_mirrors(sandbox_home: SandboxHome) -> None:
    write(
        sandbox_home,
        ".cargo/config.toml",
        '[registries.team]\nindex = "sparse+https://cargo.example/team/index/"\n'
        '[source.crates-io]\nreplace-with = "near"\n'
        '[source.near]\nregistry = "sparse+https://mirror.example/index/"\n',
    )
    write(sandbox_home, ".cargo/credentials.toml", f'[registries.team]\ntoken = "{TOKEN}"\n')
    found = cargo_registries(own(sandbox_home))
    assert logins(found) == {("cargo.example", "/team", TOKEN), ("mirror.example", "", "")}
    assert found.variables == {
        "CARGO_REGISTRIES_TEAM_TOKEN": "put-in-by-onefold",
        "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS": "cargo:token",
    }
    assert found.files == {
        ".cargo/config.toml": '[registries."team"]\n'
        'index = "sparse+https://cargo.example/team/index/"\n'
        '[source."crates-io"]\nreplace-with = "near"\n'
        '[source."near"]\nregistry = "sparse+https://mirror.example/index/"\n'
    }


def test_go_has_its_proxies(sandbox_home: SandboxHome) -> None:
    write(sandbox_home, ".netrc", f"machine go.example login me password {TOKEN}\n")
    write(sandbox_home, ".config/go/env", "GOPRIVATE=corp.example\nGOPROXY=https://weak.example\n")
    proxies = f"https://go.example/mod,https://me:{TOKEN}@two.example|direct"
    found = go_registries(own(sandbox_home, {"GOPROXY": proxies}))
    assert logins(found) == {("go.example", "/mod", ME), ("two.example", "", ME)}
    assert found.variables == {
        "GOPRIVATE": "corp.example",
        "GOPROXY": "https://go.example/mod,https://two.example|direct",
    }


def test_uv_has_its_indexes(sandbox_home: SandboxHome) -> None:
    write(
        sandbox_home,
        ".config/uv/uv.toml",
        f'[[index]]\nurl = "https://me:{TOKEN}@uv.example/a/simple"\ndefault = true\n'
        '[[index]]\nname = "team"\nurl = "https://uv.example/team/simple/"\n',
    )
    variables = {"UV_INDEX_TEAM_USERNAME": "me", "UV_INDEX_TEAM_PASSWORD": TOKEN}
    found = uv_registries(own(sandbox_home, variables))
    assert logins(found) == {("uv.example", "/a", ME), ("uv.example", "/team", ME)}
    assert found.variables == {
        "UV_DEFAULT_INDEX": "https://uv.example/a/simple",
        "UV_INDEX": "team=https://uv.example/team/simple/",
    }


SETTINGS = f"""<?xml version="1.0"?>
<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0">
 <servers><server><id>corp</id><username>me</username><password>${{env.PASS}}</password></server>
  <server><id>locked</id><username>me</username><password>{{abc=}}</password></server>
  <server><id>github</id><username>me</username><password>{TOKEN}</password></server></servers>
 <mirrors><mirror><id>corp</id><mirrorOf>*,!x</mirrorOf><url>https://mvn.example/all</url></mirror>
 </mirrors>
 <profiles><profile><id>on</id><repositories><repository><id>locked</id>
  <url>https://repo.example/r</url></repository></repositories></profile>
  <profile><id>off</id><repositories><repository><id>corp</id><url>https://off.example</url>
  </repository></repositories></profile></profiles>
 <activeProfiles><activeProfile>on</activeProfile></activeProfiles>
</settings>"""


def test_maven_has_its_mirrors_and_the_way_to_them(sandbox_home: SandboxHome) -> None:
    write(sandbox_home, ".m2/settings.xml", SETTINGS)
    found = maven_registries(own(sandbox_home, {"PASS": TOKEN}))
    assert logins(found) == {("mvn.example", "/all", ME), ("repo.example", "/r", "")}
    inside = ElementTree.fromstring(found.files[".m2/settings.xml"])
    assert inside.findtext("mirrors/mirror/mirrorOf") == "*,!x"
    assert inside.findtext("profiles/profile/repositories/repository/url").endswith("/r")  # type: ignore[union-attr]
    assert [one.findtext("port") for one in inside.findall("proxies/proxy")] == ["3128", "3128"]
    assert inside.find("servers") is None
    (note,) = found.notes
    assert "settings-security.xml" in str(note)
    assert ": locked will ask" in str(note)
    assert "${env.NAME}" in str(note)
    write(sandbox_home, ".m2/settings.xml", "<settings")
    assert "<proxies>" in maven_registries(own(sandbox_home)).files[".m2/settings.xml"]


MASTER = "{33ALKpwbt7kH0IEpR09IrGy3wMm4ShXh46CIpeB25efEm7/ADmIfaJdByNDl3ucF}"
ENCRYPTED = "{/+ASqQWzRLMHVC1zu4CRy9QYJYODSOXatAcYxkKAGHOUKFRl6NYvrOjdU/Qf+VIw}"
"""`TOKEN` and the master password as `mvn --encrypt-password` of maven 3.8 writes them."""


@pytest.mark.parametrize("remark", ["", "kept till \\{May\\} "])
@pytest.mark.parametrize("place", ["", "elsewhere/security.xml", "~/elsewhere/security.xml",
                                   "${user.home}/elsewhere/security.xml"])  # fmt: skip
def test_encrypted_passwords_of_maven_go_to_their_servers(
    sandbox_home: SandboxHome, remark: str, place: str
) -> None:
    write(sandbox_home, ".m2/settings.xml", SETTINGS.replace("{abc=}", f"{remark}{ENCRYPTED}"))
    security = f"<settingsSecurity>\n <!-- <master>{{no}}</master> --><master>\n{MASTER} </master>"
    name = place.rpartition("home}/")[2].removeprefix("~/") or ".m2/settings-security.xml"
    if place:
        leading = f"<settingsSecurity><relocation>{place}</relocation></settingsSecurity>"
        write(sandbox_home, ".m2/settings-security.xml", leading)
    write(sandbox_home, name, f"{security}</settingsSecurity>")
    found = maven_registries(own(sandbox_home, {"PASS": TOKEN}))
    assert logins(found) == {("mvn.example", "/all", ME), ("repo.example", "/r", ME)}
    assert found.notes == ()


@pytest.mark.parametrize(
    ("master", "password"),
    [
        (MASTER, ENCRYPTED.replace("SqQ", "SqR")),
        (MASTER, ENCRYPTED[:12] + "}"),
        (MASTER, "{" + ENCRYPTED[9:]),
        (MASTER, "{not base64!}"),
        (MASTER, "{пароль}"),
        (MASTER.replace("33A", "33B"), ENCRYPTED),
        ("", ENCRYPTED),
        ("{[name=master,cipher=AES/GCM/NoPadding]abc=}", ENCRYPTED),
    ],
)
def test_a_password_that_nothing_opens_is_none(
    sandbox_home: SandboxHome, master: str, password: str
) -> None:
    write(sandbox_home, ".m2/settings.xml", SETTINGS.replace("{abc=}", password))
    security = f"<settingsSecurity><master>{master}</master></settingsSecurity>"
    write(sandbox_home, ".m2/settings-security.xml", security)
    found = maven_registries(own(sandbox_home))
    assert {one.authorization for one in found.origins if one.host == "repo.example"} == {""}
    assert "locked will ask" in str(*found.notes)


def test_gem_and_bundler_have_their_sources(sandbox_home: SandboxHome) -> None:
    write(
        sandbox_home,
        ".gemrc",
        f"---\n:sources:\n- https://me:{TOKEN}@gems.example/\n:verbose: true\n",
    )
    write(
        sandbox_home,
        ".bundle/config",
        '---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "https://near.example"\n'
        f'BUNDLE_GEMS__MY___CORP__EXAMPLE: "me:{TOKEN}"\nBUNDLE_GITHUB__COM: "me:{TOKEN}"\n'
        'BUNDLE_JOBS: "4"\n',
    )
    found = ruby_registries(own(sandbox_home))
    assert logins(found) == {
        ("gems.example", "", ME), ("near.example", "", ""), ("gems.my-corp.example", "", ME),
    }  # fmt: skip
    assert found.files == {
        ".gemrc": "---\n:sources:\n- https://gems.example/\n",
        ".bundle/config": '---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: "https://near.example"\n',
    }


def test_composer_has_its_repositories_but_no_login_of_a_forge(sandbox_home: SandboxHome) -> None:
    write(
        sandbox_home,
        ".config/composer/auth.json",
        '{"http-basic": {"php.example": {"username": "me", "password": "%s"}, "github.com": '
        '{"username": "me", "password": "%s"}}, "bearer": {"b.example": "%s"}, "github-oauth": '
        '{"github.com": "%s"}}' % ((TOKEN,) * 4),
    )
    write(
        sandbox_home,
        ".config/composer/config.json",
        '{"repositories": {"team": {"type": "composer", "url": "https://php.example/team"}}}',
    )
    found = composer_registries(own(sandbox_home))
    assert logins(found) == {
        ("php.example", "", ME), ("b.example", "", f"Bearer {TOKEN}"), ("php.example", "/team", ""),
    }  # fmt: skip
    assert "https://php.example/team" in found.files[".config/composer/config.json"]


READERS = [
    (javascript_registries, ".npmrc", "registry=https://evil.example/\n//evil.example/:_authToken=${T}"),
    (cargo_registries, ".cargo/config.toml", '[registries.x]\nindex = "sparse+https://evil.example/"'),
    (uv_registries, ".config/uv/uv.toml", 'index-url = "https://evil.example/"'),
    (go_registries, ".config/go/env", "GOPROXY=https://evil.example"),
    (maven_registries, ".m2/settings.xml", SETTINGS),
    (ruby_registries, ".gemrc", "- https://evil.example/"),
    (composer_registries, ".composer/auth.json", '{"bearer": {"evil.example": "x"}}'),
]  # fmt: skip


@pytest.mark.parametrize(("reader", "name", "text"), READERS)
def test_what_programs_could_have_written_is_no_setting(
    sandbox_home: SandboxHome, reader: object, name: str, text: str
) -> None:
    assert callable(reader)
    write(sandbox_home, name, text)
    config = own(sandbox_home, {"T": TOKEN})
    assert reader(config).origins
    planted = sandbox_home.project / "planted"
    planted.write_text(text)
    (sandbox_home.home / name).unlink()
    (sandbox_home.home / name).symlink_to(planted)
    assert reader(config).origins == ()
    (sandbox_home.home / name).unlink()
    (sandbox_home.project / Path(name).name).write_text(text)
    assert reader(config).origins == ()


@pytest.mark.parametrize(
    "text", ["\0", "[", "{", "<a", "registry=https://[x\n", "=\n==", "\xff" * 99]
)
def test_files_that_make_no_sense_say_nothing(sandbox_home: SandboxHome, text: str) -> None:
    for reader, name, _ in READERS:
        write(sandbox_home, name, text)
        assert reader(own(sandbox_home)).origins == ()


def test_all_of_it_is_one_network(sandbox_home: SandboxHome) -> None:
    write(sandbox_home, ".npmrc", f"//npm.example/:_authToken={TOKEN}\n")
    variables = {"PIP_INDEX_URL": "https://pip.example/simple", "PIP_CONFIG_FILE": "/dev/null"}
    found = package_network(sandbox_home.project, variables, ("more.example",))
    assert found.hosts == ("more.example",)
    assert found.indexes == USUAL_INDEXES
    assert found.names() == ("more.example", "pip.example", "npm.example")
    assert all(one.is_intercepted for one in found.origins)
    assert TOKEN not in repr(found)
