"""Environment variables that tell programs how they stand with the network."""

from __future__ import annotations

from modules.sandbox.types import CERTIFICATES_PATH, JAVA_CERTIFICATES_PATH, PORT

OFFLINE_VARIABLES = {
    "PIP_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "npm_config_offline": "true",  # pnpm obeys it too
    "pnpm_config_offline": "true",
    "YARN_ENABLE_NETWORK": "0",
    "COREPACK_ENABLE_NETWORK": "0",
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "MAVEN_ARGS": "--offline",
    "BUNDLE_RETRY": "0",
    "COMPOSER_DISABLE_NETWORK": "1",
    "CONDA_OFFLINE": "true",
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
