"""The person's toolchains in the sandbox: they run, they hold no secret, nothing can be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from modules.sandbox.backends import selftest
from modules.sandbox.sandbox import Program, Result, Sandbox
from tests.modules.sandbox.sandbox_home import SECRET, SandboxHome, run_to_end
from tests.modules.sandbox.toolchains.layouts import Layout, every_manager

pytestmark = pytest.mark.as_root

CREDENTIALS = (
    ".nvm/.npmrc",
    ".nvm/versions/node/v20.1.0/etc/npmrc",
    ".nvm/versions/node/v20.1.0/lib/node_modules/mine/.npmrc",
    ".volta/tools/auth.json",
    ".cargo/credentials.toml",
    ".cargo/bin/credentials.toml",
    ".cargo/config.toml",
    ".rustup/tokens",
    ".pyenv/versions/3.12.1/.pypirc",
    ".pyenv/versions/3.12.1/pip.conf",
    ".local/share/pipx/venvs/black/pipx_metadata.json",
    ".local/share/pypoetry/auth.toml",
    ".local/bin/notes.txt",
    "miniconda3/.condarc",
    "miniconda3/envs/science/etc/deep/er/auth.json",
    ".sdkman/candidates/maven/3.9/conf/settings.xml",
    ".sdkman/etc/config",
    ".sdkman/candidates/gradle/8.5/init.d/company.gradle",
    ".sdkman/candidates/gradle/8.5/init.d/company.init.gradle.kts",
    ".sdkman/candidates/gradle/8.5/init.d/by/team/company.gradle",
    "opt/vendor/etc/apt/auth.conf",
    "opt/vendor/etc/apt/sources.list",
    ".config/pip/pip.conf",
    ".m2/settings.xml",
    ".npmrc",
    "Android/Sdk/release.keystore",
    "opt/vendor/lib/server.pem",
    "bin/deploy",
    "bin/private/list",
    "go/pkg/mod/cache/private",
    ".config/mise/config.toml",
    ".pyenv/registry.json",
    ".nvm/.git/config",
    ".pyenv/plugins/mine/token.txt",
    ".sdkman/candidates/maven/3.9/conf/settings.xml.bak",
    ".sdkman/candidates/gradle/8.5/conf/team/deploy.pem~",
    "miniconda3/envs/science/conda-meta/state",
    "miniconda3/envs/science/etc/conda/activate.d/env_vars.sh",
    ".pyenv/versions/3.12.1/envs/work/bin/postactivate",
    ".pyenv/versions/3.12.1/envs/work/.env.local",
    "opt/vendor/etc/headers.ini",
)
"""Files with a canary in a form that its kind of file would have it in."""
_FORMS = {
    ".gradle": "credentials {{ username 'me'; password '{secret}' }}\n",
    ".kts": 'credentials {{ username = "me"; setPassword("{secret}") }}\n',
    "auth.conf": "machine index.example login me password {secret}\n",
    ".list": "deb https://me:{secret}@index.example/debian stable main\n",
    "registry.json": '{{"auths": {{"registry.example": {{"auth": "{secret}"}}}}}}',
    ".pem": "-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----\n",
    ".xml": "<settings><password>{secret}</password></settings>",
    ".json": '{{"pip_args": "--index-url https://me:{secret}@index.example", "token": "{secret}"}}',
    ".toml": '[registry]\ntoken = "{secret}"\n',
    ".git/config": '[remote "origin"]\n\turl = https://{secret}@git.example/nvm\n',
    ".pem~": "-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----\n",
    "env_vars.sh": "export AWS_SECRET_ACCESS_KEY={secret}\n",
    "postactivate": "export API_TOKEN='{secret}'\n",
    "headers.ini": "extraheader = AUTHORIZATION: basic {secret}\n",
    ".conf": "[global]\nindex-url = https://me:{secret}@index.example/simple\n",
    "deploy": '#!/bin/sh\nexport DEPLOY_TOKEN="{secret}"\n',
    "config": "password={secret}\n",
}


@pytest.fixture(params=["A", "C"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "C":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    return str(request.param)


@pytest.fixture
def layout(sandbox_home: SandboxHome) -> Layout:
    return every_manager(sandbox_home.home)


def sandbox_with(
    sandbox_home: SandboxHome, layout: Layout, *shown: Path, before: str = ""
) -> Sandbox:
    return Sandbox(
        sandbox_home.project,
        hidden=[sandbox_home.data],
        cache_folder=sandbox_home.data,
        environment=layout.environment(before=before),
        show_folders=shown,
    )


def run(sandbox: Sandbox, code: str, tier: str) -> Result:
    assert sandbox.report().tier == tier
    return run_to_end(sandbox, Program("bash", code))


def python(sandbox: Sandbox, code: str, tier: str) -> str:
    assert sandbox.report().tier == tier
    return run_to_end(sandbox, Program("python", code)).output


def plant(layout: Layout) -> None:
    """Put a canary in every file of `CREDENTIALS`."""
    for name in CREDENTIALS:
        form = next((text for end, text in _FORMS.items() if name.endswith(end)), "{secret}")
        path = layout.file(name, form.format(secret=SECRET))
        if path.name == "deploy":
            path.chmod(0o755)


def test_every_program_runs_by_its_name(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    shims = {"python3.12", "npm-cli.js", "python3.13"}
    names = sorted({*layout.programs, "npm", "cargo"} - shims)
    result = run(sandbox_with(sandbox_home, layout), "\n".join(names), tier)
    expected = {"npm": "npm-cli.js", "cargo": "rustup"}
    assert result.output.splitlines() == [f"{expected.get(name, name)} ran" for name in names]


def test_the_python_of_a_tool_is_found_by_its_own_name(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    code = "for tool in uv/tools/ruff pipx/venvs/black; do ~x/.local/share/$tool/bin/python; done"
    code = code.replace("~x", str(layout.home))
    assert run(sandbox_with(sandbox_home, layout), code, tier).output == "python3.13 ran\n" * 2


def test_variables_that_find_toolchains_go_along_and_no_others(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    layout.variables |= {
        "NPM_TOKEN": SECRET,
        "CARGO_REGISTRY_TOKEN": SECRET,
        "GRADLE_HOME": SECRET,
        "JDK_HOME": str(layout.home / ".ssh"),
        "PYENV_VERSION": f"3.12 {SECRET}",
    }
    output = run(sandbox_with(sandbox_home, layout), "env", tier).output
    assert SECRET not in output
    found = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    home = layout.home
    expected = {
        "NVM_DIR": str(home / ".nvm"),
        "VOLTA_HOME": str(home / ".volta"),
        "FNM_DIR": str(home / ".local/share/fnm"),
        "RUSTUP_HOME": str(home / ".rustup"),
        "RUSTUP_TOOLCHAIN": "stable",
        "PYENV_ROOT": str(home / ".pyenv"),
        "UV_PYTHON_INSTALL_DIR": str(home / ".local/share/uv/python"),
        "CONDA_PREFIX": str(home / "miniconda3/envs/science"),
        "CONDA_DEFAULT_ENV": "science",
        "GOROOT": str(home / "sdk/go1.22"),
        "SDKMAN_DIR": str(home / ".sdkman"),
        "JAVA_HOME": str(home / ".sdkman/candidates/java/21"),
        "ANDROID_HOME": str(home / "Android/Sdk"),
        "ASDF_DIR": str(home / ".asdf"),
        "HOMEBREW_PREFIX": str(home / ".linuxbrew"),
    }
    assert {name: found.get(name) for name in expected} == expected
    assert not {"CARGO_HOME", "GRADLE_HOME", "JDK_HOME", "PYENV_VERSION"} & found.keys()
    assert ":/usr/local/bin:/usr/bin:/bin:" in found["PATH"]
    assert found["PATH"].endswith("/.local/bin")


_TELL = """
import os
def tell(path, dir_fd=None):
    try:
        with open(path, 'rb', opener=lambda p, f: os.open(p, f, dir_fd=dir_fd)) as file:
            if {secret!r}.encode() in file.read(1_000_000): print('read', path)
    except OSError: pass
"""


def test_no_credential_can_be_read_by_any_way(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    plant(layout)
    nvm = layout.home / ".nvm"
    (nvm / "innocent").symlink_to(".npmrc")
    (nvm / "versions/other").hardlink_to(nvm / ".npmrc")
    (nvm / "versions/way").symlink_to(layout.home)
    names = [str(layout.home / name) for name in CREDENTIALS]
    code = (
        _TELL.format(secret=SECRET)
        + f"""
home, names = {str(layout.home)!r}, {names!r}
for folder, _, files in os.walk(home):
    for name in files: tell(folder + '/' + name)
for name in [*names, home + '/.nvm/innocent', home + '/.nvm/versions/other']:
    tell(name)
    tell('/proc/self/root' + name)
    tell('/proc/self/cwd/' + os.path.relpath(name))
    tell(home + '/.nvm/versions/way' + name.removeprefix(home))
    for act in (os.link, os.symlink, os.rename):
        try: act(name, 'taken')
        except OSError: continue
        tell('taken'); os.unlink('taken')
    try: folder = os.open(os.path.dirname(name), os.O_RDONLY | os.O_DIRECTORY)
    except OSError: continue
    tell(os.path.basename(name), folder)
    tell('../' * 12 + name, folder)
print('looked')
"""
    )
    assert python(sandbox_with(sandbox_home, layout), code, tier) == "looked\n"


@pytest.mark.parametrize("name", [".netrc", ".ssh/id_rsa", ".gradle/gradle.properties"])
def test_a_credential_of_the_home_has_no_other_name_in_a_toolchain(
    sandbox_home: SandboxHome, layout: Layout, tier: str, name: str
) -> None:
    (credential := layout.home / name).parent.mkdir(parents=True, exist_ok=True)
    credential.write_text(SECRET)
    (other := layout.home / ".nvm/versions/node/v20.1.0/lib/part.so").hardlink_to(credential)
    result = run(sandbox_with(sandbox_home, layout), f"cat {other}; node", tier)
    assert SECRET not in result.output
    assert "node ran" in result.output


def test_a_program_of_node_finds_the_rest_of_its_package_and_those_it_needs(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    """So `npm install --global` with the prefix ~/.local leaves it."""
    packages = ".local/lib/node_modules"
    text = '#!/bin/sh\ncd "$(dirname "$(readlink -f "$0")")/.." && cat dist/main ../needed/main\n'
    layout.program("pnpm.cjs", f"{packages}/pnpm/bin", text=text)
    layout.file(f"{packages}/pnpm/package.json", "{}")
    layout.file(f"{packages}/pnpm/dist/main", "its own\n")
    layout.file(f"{packages}/needed/main", "and another\n")
    layout.link(".local/bin/pnpm", "../lib/node_modules/pnpm/bin/pnpm.cjs")
    result = run(sandbox_with(sandbox_home, layout), "pnpm", tier)
    assert result.output == "its own\nand another\n"


def test_programs_beside_credentials_still_run(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    plant(layout)
    names = ["node", "ruff", "black", "mvn", "rustup", "mine", "hello", "go"]
    result = run(sandbox_with(sandbox_home, layout), "\n".join(names), tier)
    assert result.output.splitlines() == [f"{name} ran" for name in names]


def test_nothing_shown_can_be_written(sandbox_home: SandboxHome, layout: Layout, tier: str) -> None:
    sandbox = sandbox_with(sandbox_home, layout)
    before = {path: path.lstat().st_ctime_ns for path in layout.home.rglob("*")}
    code = f"""
import os
def attempt(act, what):
    try: act()
    except OSError: return
    print(what)
for top in {[str(path) for path in sandbox.toolchains().folders]!r}:
    for folder, folders, files in os.walk(top):
        attempt(lambda: open(folder + '/planted', 'w').close(), folder)
        attempt(lambda: os.mkdir(folder + '/planted'), folder)
        for name in files:
            path = folder + '/' + name
            attempt(lambda: open(path, 'a').close(), path)
            attempt(lambda: os.unlink(path), path)
            attempt(lambda: os.rename(path, path + '2'), path)
    attempt(lambda: os.rename(top, top + '2'), top)
print('tried')
"""
    assert python(sandbox, code, tier) == "tried\n"
    unchanged = {path: path.lstat().st_ctime_ns for path in before if path.exists()}
    kept = {path: at for path, at in before.items() if sandbox_home.project not in path.parents}
    assert {path: unchanged.get(path) for path in kept if path in unchanged} == {
        path: at for path, at in kept.items() if path in unchanged
    }


def test_the_rest_of_the_home_stays_unseen(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    layout.file("letters/private.txt", SECRET)
    layout.file(".local/share/keyrings/login", SECRET)
    # each of these would widen what is shown
    layout.on_path(".", ".ssh", "..", "work", ".local", "work/project", "letters/../.ssh")
    layout.variables["GRADLE_HOME"] = str(layout.home)
    layout.variables["ANDROID_SDK_ROOT"] = str(layout.home / ".ssh")
    sandbox = sandbox_with(sandbox_home, layout, layout.home, layout.home / ".ssh", Path("/"))
    code = (
        _TELL.format(secret=SECRET)
        + f"""
for folder, _, files in os.walk({str(layout.home)!r}):
    for name in files: tell(folder + '/' + name)
for name in ('letters/private.txt', '.ssh/id_ed25519', '.local/share/keyrings/login'):
    tell({str(layout.home)!r} + '/' + name)
print('looked')
"""
    )
    assert python(sandbox, code, tier) == "looked\n"
    assert {layout.home, layout.home / ".ssh", Path("/")} <= dict(
        sandbox.toolchains().refused
    ).keys()


def test_a_program_of_the_project_gives_nothing_a_new_place(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    project = sandbox_home.project
    layout.file("private/bin/tool", SECRET)
    (project / "tools").symlink_to(layout.home / "private")
    layout.link("through", str(project / "tools/bin"))
    layout.variables["MAVEN_HOME"] = str(project / "tools")
    layout.on_path("through")
    sandbox = sandbox_with(sandbox_home, layout, before=f"{project}/tools/bin:{project}/bin")
    assert not any("private" in str(path) for path in sandbox.toolchains().folders)
    code = f"cat {layout.home}/private/bin/tool; echo $PATH; echo $MAVEN_HOME"
    output = run(sandbox, code, tier).output
    assert SECRET not in output
    assert str(project) not in output


def test_a_shown_folder_is_there_without_its_credentials(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    layout.file("reference/book.txt", "to be read\n")
    layout.file("reference/.netrc", SECRET)
    folder = layout.home / "reference"
    result = run(
        sandbox_with(sandbox_home, Layout(layout.home), folder),
        f"cat {folder}/book.txt {folder}/.netrc; touch {folder}/new && echo written",
        tier,
    )
    assert "to be read" in result.output
    assert SECRET not in result.output
    assert "written" not in result.output


def test_what_is_added_later_is_seen_and_its_credentials_are_not(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    sandbox = sandbox_with(sandbox_home, layout)
    assert run(sandbox, "node", tier).output == "node ran\n"
    layout.program("later", ".nvm/versions/node/v20.1.0/bin")
    layout.file(".nvm/.npmrc", SECRET)
    result = run(sandbox, f"later; cat {layout.home}/.nvm/.npmrc", tier)
    assert "later ran" in result.output
    assert SECRET not in result.output


def test_a_credential_that_is_gone_stops_no_run(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    deep = layout.file(".nvm/versions/node/v20.1.0/lib/node_modules/mine/.npmrc", SECRET)
    sandbox = sandbox_with(sandbox_home, layout)
    assert run(sandbox, "node", tier).output == "node ran\n"
    deep.unlink()
    assert run(sandbox, "node", tier).output == "node ran\n"


def test_what_is_closed_to_the_person_is_left_out(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    locked = layout.home / "locked"
    (locked / "bin").mkdir(parents=True)
    locked.chmod(0)
    layout.on_path("locked/bin", "locked", "gone")
    layout.variables |= {"JAVA_HOME": str(locked / "jdk"), "NVM_DIR": str(locked / "nvm")}
    try:
        assert run(sandbox_with(sandbox_home, layout), "ruff", tier).output == "ruff ran\n"
    finally:
        locked.chmod(0o700)


def test_a_folder_that_somebody_works_in_shows_its_programs_alone(
    sandbox_home: SandboxHome, layout: Layout, tier: str
) -> None:
    layout.program("mytool", "code/mine/bin")
    layout.file("code/mine/lib/private.py", SECRET)
    layout.file("code/mine/package.json", "{}")
    layout.on_path("code/mine/bin")
    command = f"mytool; cat {layout.home}/code/mine/lib/private.py"
    output = run(sandbox_with(sandbox_home, layout), command, tier).output
    assert output.startswith("mytool ran\n")
    assert SECRET not in output


def test_a_home_behind_a_link_is_found_by_both_names(
    sandbox_home: SandboxHome, tmp_path: Path, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "named"
    named.symlink_to(sandbox_home.home)
    monkeypatch.setenv("HOME", str(named))
    layout = every_manager(named)
    result = run(
        sandbox_with(sandbox_home, layout),
        f"node; {named}/.nvm/versions/node/v20.1.0/bin/node; ruff",
        tier,
    )
    assert result.output == "node ran\nnode ran\nruff ran\n"


def test_the_home_gets_no_links_to_where_toolchains_are(
    sandbox_home: SandboxHome, layout: Layout
) -> None:
    assert not [
        path
        for path, _ in sandbox_with(sandbox_home, layout).toolchains().links
        if path.parent == layout.home
    ]


def test_without_toolchains_all_is_as_before(sandbox_home: SandboxHome, tier: str) -> None:
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    plain = sandbox_home.sandbox()
    given = Sandbox(
        sandbox_home.project,
        hidden=[sandbox_home.data],
        cache_folder=sandbox_home.data,
        environment={"PATH": path},
        home=sandbox_home.program_home,
    )
    own = "-e ^HOME= -e ^TMPDIR= -e ^PWD= -e ^GIT_CONFIG_SYSTEM="  # folders of each run
    command = f"env | grep -v {own} | sort"
    assert run(given, command, tier).output == run(plain, command, tier).output


def test_a_python_in_a_toolchain_is_not_asked_about(
    sandbox_home: SandboxHome, layout: Layout
) -> None:
    sandbox = sandbox_with(sandbox_home, layout)
    run_to_end(sandbox, Program("bash", "true"))
    prefix = layout.home / ".local/share/uv/python/cpython-3.13.1-linux"
    layout.file(f"{prefix}/lib/python3.13/os.py")
    environment = sandbox_home.project / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {prefix}/bin\n")
    (environment / "bin/python3").symlink_to(prefix / "bin/python3.13")
    assert sandbox.unapproved_python() is None
    assert sandbox_home.sandbox().unapproved_python() == Path(os.path.realpath(prefix))
