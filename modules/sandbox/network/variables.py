"""Environment variables that tell programs how they stand with the network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from modules.sandbox.home.home_variables import HOME_IN_SANDBOX
from modules.sandbox.types import CERTIFICATES_PATH, JAVA_CERTIFICATES_PATH, PORT

OFFLINE_VARIABLES = {
    "PIP_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "npm_config_offline": "true",  # pnpm obeys it too
    "pnpm_config_offline": "true",
    "YARN_ENABLE_NETWORK": "0",
    "YARN_ENABLE_OFFLINE_MODE": "1",  # without it `yarn add` of yarn 4 fails for a bug of its own
    "COREPACK_ENABLE_NETWORK": "0",
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "MAVEN_ARGS": "--offline",
    "GRADLE_OPTS": " ".join(
        (
            # It takes no word for being offline but an argument. No daemon outlives a call, so it
            # starts none, which halves what it takes to fail, and does not try again.
            *("-Dorg.gradle.daemon=false", "-Dorg.gradle.internal.repository.max.tentatives=1"),
            *("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
            # Its classes are the person's own installation; to verify each costs a tenth.
            *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
            "-XX:-UsePerfData",
        )
    ),
    "BUNDLE_RETRY": "0",
    "COMPOSER_DISABLE_NETWORK": "1",
    "CONDA_OFFLINE": "true",
    # It has no switch and tries for 8 seconds; no time at all is an error to it.
    "POETRY_REQUESTS_TIMEOUT": "0",
}
"""The switches of package managers for having no network; untold, many try again for a minute."""

_JAVA = f"-Djavax.net.ssl.trustStore={JAVA_CERTIFICATES_PATH} -Djavax.net.ssl.trustStoreType=JKS"
_JAVA_PROXY = " ".join(
    f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={PORT}" for scheme in ("http", "https")
)
TRUST_VARIABLES = {
    **dict.fromkeys(
        (
            *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE"),
            *("NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO", "BUNDLE_SSL_CA_CERT"),
            *("COMPOSER_CAFILE", "YARN_HTTPS_CA_FILE_PATH", "npm_config_cafile"),
        ),
        str(CERTIFICATES_PATH),
    ),
    "MAVEN_OPTS": _JAVA,
    "GRADLE_OPTS": f"{_JAVA} {_JAVA_PROXY}",
}
"""The variables by which programs learn whom to believe."""

_FOLDER = Path("/run/packages")
_SETTINGS: Mapping[str, tuple[Path, Mapping[str, str]]] = {
    ".npmrc": (_FOLDER / "npmrc", {"npm_config_globalconfig": f"{_FOLDER}/npmrc"}),  # and pnpm's
    ".yarnrc": (Path("/.yarnrc"), {}),  # looked for in all folders above the current one
    ".cargo/config.toml": (Path("/.cargo/config.toml"), {}),  # so too
    ".m2/settings.xml": (
        _FOLDER / "maven.xml",
        {"MAVEN_ARGS": f"--global-settings {_FOLDER}/maven.xml"},
    ),
    ".gemrc": (_FOLDER / "gemrc", {"GEMRC": f"{_FOLDER}/gemrc"}),
    ".bundle/config": (_FOLDER / "bundle", {"BUNDLE_USER_CONFIG": f"{_FOLDER}/bundle"}),
    ".config/composer/config.json": (
        _FOLDER / "composer/config.json",
        {
            "COMPOSER_HOME": f"{_FOLDER}/composer",
            "COMPOSER_CACHE_DIR": f"{HOME_IN_SANDBOX}/.cache/composer",
        },
    ),
}
"""The place of each file of settings, by its name in a home, and the variables that lead to it.

Not in the home of programs: one of them could have put a link in its way.
"""


def place_of_settings(name: str) -> tuple[Path, Mapping[str, str]]:
    """Return the place for the file of settings that is *name* in a home, and its variables."""
    return _SETTINGS[name]
