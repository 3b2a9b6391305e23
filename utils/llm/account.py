"""A person's account at a provider of models: the settings and pages that failures name."""

from __future__ import annotations

from utils.frozen import frozen


@frozen
class Account:
    """Settings and pages by which the person can fix their account at a server.

    *key_name* and *url_name* are what the settings call its key and its address; *api* is what the
    API is called. *host* is the provider's own server: of another one the pages say nothing.
    """

    key_name: str
    url_name: str
    key_page: str
    balance_page: str
    api: str = "chat-completions"
    host: str = ""


DEEPSEEK_ACCOUNT = Account(
    key_name="DEEPSEEK_API_KEY",
    url_name="DEEPSEEK_BASE_URL",
    key_page="https://platform.deepseek.com/api_keys",
    balance_page="https://platform.deepseek.com/top_up",
    host="api.deepseek.com",
)
ANTHROPIC_ACCOUNT = Account(
    key_name="ANTHROPIC_API_KEY",
    url_name="ANTHROPIC_BASE_URL",
    key_page="https://platform.claude.com/settings/keys",
    balance_page="https://platform.claude.com/settings/billing",
    api="Messages",
    host="api.anthropic.com",
)
OPENAI_ACCOUNT = Account(
    key_name="OPENAI_API_KEY",
    url_name="OPENAI_BASE_URL",
    key_page="https://platform.openai.com/api-keys",
    balance_page="https://platform.openai.com/settings/organization/billing",
    host="api.openai.com",
)
