"""Without the network package managers fail at once, and it is noticed what they lack."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from modules.sandbox.network.offline import installs_in_system, lacks_network
from modules.sandbox.network.variables import OFFLINE_VARIABLES
from modules.sandbox.sandbox import Network, Program
from tests.modules.sandbox.sandbox_home import QUICK, SandboxHome, run_to_end
from utils.waiting import Stop

SAID = {
    "pip": "ERROR: Could not find a version that satisfies the requirement six (from versions: "
    "none)\nERROR: No matching distribution found for six",
    "uv": "hint: Packages were unavailable because the network was disabled. When the network is "
    "disabled, registry packages may only be read from the cache.",
    "poetry": "All attempts to connect to pypi.org failed.",
    "poetry 2": "Attempted to set connect timeout to 0, but the timeout cannot be set to a value "
    "less than or equal to 0.",
    "npm": "npm error request to https://registry.npmjs.org/left-pad failed: cache mode is "
    "'only-if-cached' but no cached response is available.\nnpm error code ENOTCACHED",
    "pnpm": " ERR_PNPM_NO_OFFLINE_META  Failed to resolve left-pad@1.3.0 in package mirror",
    "pnpm 12": "Error: ERR_PNPM_PACKAGE_MANAGER_ADD_RESOLVE_LATEST\n  ╰─▶ Failed to resolve the "
    'latest version of left-pad: Failed to resolve\n      left-pad@latest in package mirror "/run/',
    "yarn 1": "error Error: getaddrinfo EAI_AGAIN registry.yarnpkg.com",
    "yarn 4": "YN0080: Request to 'https://registry.yarnpkg.com/left-pad' has been blocked because "
    "of your configuration settings",
    "yarn 4 add": "YN0027: left-pad@unknown can't be resolved to a satisfying range (note: network "
    "resolution has been disabled)\nYN0080: Request to 'https://registry.yarnpkg.com/left-pad' has "
    "been blocked because of your configuration settings",
    "cargo": "error: no matching package named `serde` found\nAs a reminder, you're using offline "
    "mode (--offline) which can sometimes cause surprising resolution failures",
    "cargo add": "error: the crate `serde` could not be found in registry index.",
    "cargo install": "error: could not find `ripgrep` in registry `crates-io` with version `*`",
    "go": "go: example.org/m@v1.0.0: module lookup disabled by GOPROXY=off",
    "maven": "Cannot access central (https://repo.maven.apache.org/maven2) in offline mode",
    "gradle": "> Could not GET 'https://repo.maven.apache.org/maven2/a.pom'.\n   > "
    "java.net.UnknownHostException: repo.maven.apache.org: Temporary failure in name resolution",
    "gem": "ERROR:  Could not find a valid gem 'rake' (>= 0), here is why:\n          Unable to "
    "download data from https://rubygems.org/ - no such name",
    "bundler": "Could not reach host index.rubygems.org. Check your network connection",
    "composer": "Network disabled, request canceled: https://repo.packagist.org/packages.json",
    "conda": "OfflineError: EnforceUnusedAdapter called with url https://repo.anaconda.com",
    "apt": "E: Failed to fetch http://deb.debian.org/x  Temporary failure resolving 'deb.d.org'",
    "curl": "curl: (6) Could not resolve host: example.org",
    "corepack": "Error: Network access disabled by the environment; can't reach https://…",
}
"""The last words of each with no network, from runs in the sandbox or from their sources."""


@pytest.mark.parametrize("name", SAID)
def test_the_words_of_each_manager_are_noticed(name: str) -> None:
    assert lacks_network(f"Resolving…\n{SAID[name]}\n")


@pytest.mark.parametrize(
    "said",
    [
        "curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "FAILED tests/test_hosts.py::test_name - AssertionError",
        "error[E0433]: failed to resolve: use of undeclared crate or module `serde`",
        "ModuleNotFoundError: No module named 'six'",
        "",
    ],
)
def test_other_failures_are_none_of_it(said: str) -> None:
    assert not lacks_network(said)


@pytest.mark.parametrize(
    "said",
    [
        "E: List directory /var/lib/apt/lists/partial is missing. - Acquire (2: No such file)",
        "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
        "Reading package lists...\nE: Unable to locate package sl",
    ],
)
def test_apt_is_told_from_others_by_what_it_says(said: str) -> None:
    assert installs_in_system(f"{said}\n")


def test_the_switches_are_set_without_the_network_only(sandbox_home: SandboxHome) -> None:
    code = "import os, json; print(json.dumps(dict(os.environ)))"
    assert OFFLINE_VARIABLES.items() <= _environment(sandbox_home, None, code).items()
    with_network = _environment(sandbox_home, Network(("index.example.org",)), code)
    assert not OFFLINE_VARIABLES.keys() & with_network.keys()
    proxy = with_network["HTTPS_PROXY"]
    assert with_network["YARN_HTTPS_PROXY"] == with_network["YARN_HTTP_PROXY"] == proxy


def _environment(sandbox_home: SandboxHome, network: Network | None, code: str) -> dict[str, str]:
    run = sandbox_home.sandbox().run(Program("python", code), QUICK, Stop(), network)
    found: dict[str, str] = json.loads("".join(run))
    return found


def test_pip_gives_up_before_it_looks_for_anybody(sandbox_home: SandboxHome) -> None:
    venv = "python3 -m venv --system-site-packages /tmp/v; "
    sandbox = sandbox_home.sandbox()
    found = run_to_end(sandbox, Program("bash", f"{venv} /tmp/v/bin/pip install no-such-thing"))
    assert found.exit_code == 1
    assert "Retrying" not in found.output
    assert lacks_network(found.output)


@pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
def test_java_takes_the_options_for_gradle_without_a_word() -> None:
    options = OFFLINE_VARIABLES["GRADLE_OPTS"].split()
    command = ["java", "-Xshare:auto", *options, "-XX:+PrintCommandLineFlags", "-version"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "warning" not in said.stderr
    assert "-XX:-BytecodeVerificationRemote" in said.stdout


def test_registries_of_a_run_with_the_network_are_known_without(sandbox_home: SandboxHome) -> None:
    """Cargo, maven and uv find what they have read by where it came from."""
    network = Network(
        (),
        {
            "UV_DEFAULT_INDEX": "http://mirror:80/simple",
            "GOPROXY": "https://mirror",
            "PIP_CERT": "/c",
        },
        files={".cargo/config.toml": "[source.mirror]\n", ".m2/settings.xml": "<settings/>\n"},
    )
    shows = Program(
        "bash",
        "cat /.cargo/config.toml ${MAVEN_ARGS##* }; "
        "echo ${MAVEN_ARGS%% *} $UV_DEFAULT_INDEX $UV_OFFLINE $GOPROXY $PIP_CERT",
    )
    list(sandbox_home.sandbox().run(shows, QUICK, Stop(), network))
    assert run_to_end(sandbox_home.sandbox(), shows).output == (
        "[source.mirror]\n<settings/>\n--offline http://mirror:80/simple 1 off\n"
    )
