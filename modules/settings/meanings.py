"""What each setting is for, by the groups in which the screens show them."""

from __future__ import annotations

from utils.i18n import Phrase, phrase

_SERVERS = (
    ("deepseek_api_key", phrase("Your key from platform.deepseek.com")),
    ("deepseek_base_url", phrase("The address of DeepSeek, or of another server of its API")),
    ("anthropic_api_key", phrase("Your key for Claude")),
    ("anthropic_base_url", phrase("The address of Anthropic's API")),
    ("openai_api_key", phrase("Your key for OpenAI's models")),
    ("openai_base_url", phrase("The address of OpenAI's API")),
    ("providers", phrase("Other servers, each with an address and a key")),
    ("tavily_api_key", phrase("Your key for web search")),
    ("tavily_base_url", phrase("The address of the web search")),
)
_MODEL = (
    ("model", phrase("The model that sessions begin with")),
    ("mode", phrase("think: each task thinks before its first step")),
    ("depth", phrase("How deep tasks go; auto follows the rules")),
    ("effort", phrase("How hard the model thinks")),
    ("protocol", phrase("How tools are called: natively, or in text blocks (vcp)")),
    ("models", phrase("What the server of a model takes")),
    ("max_tokens", phrase("Tokens of one reply, thinking included")),
    ("context_limit", phrase("Tokens that the model can take in")),
    ("idle_seconds", phrase("Silence after which a reply is given up, in seconds")),
    ("retries", phrase("How often a busy server is tried again")),
    ("project_map_tokens", phrase("Tokens of the map of the project; 0 for none")),
    ("mcp_tokens", phrase("Tokens that the tools of MCP servers may take")),
)
_PERMISSIONS = (
    ("approve", phrase("What is asked before a call runs")),
    ("network_hosts", phrase("Hosts that programs may reach once you allow the network")),
    ("show_folders", phrase("Folders outside the project that programs may read")),
    ("hide_secrets", phrase("The model sees names in place of secret values")),
    ("allow_outside", phrase("Commands outside the sandbox where nobody can be asked")),
    ("allow_unsandboxed", phrase("Run programs without a sandbox where none works")),
    ("git_hooks", phrase("Run the repository's own hooks at a commit, in the sandbox")),
)
_COST = (
    ("task_budget", phrase("US dollars that a task may cost; 0 for no limit")),
    ("daily_budget", phrase("US dollars that a day may cost; 0 for no limit")),
    ("budget_usd", phrase("US dollars that a session may cost; 0 for no limit")),
    ("when", phrase("off-peak: wait for the cheap hours")),
    ("step_limit", phrase("Model calls in one task; 0 for no limit")),
    ("prices", phrase("Prices of models")),
)
_PROGRAMS = (
    ("run_seconds", phrase("Time of a program that asks for none, in seconds")),
    ("call_seconds", phrase("The longest time that the model may ask for, in seconds")),
    ("memory_mb", phrase("Memory of a run, in MB")),
    ("processes", phrase("Processes and threads of a run")),
    ("disk_mb", phrase("What a run may write to disk, in MB")),
    ("tmp_mb", phrase("Size of /tmp in a run, in MB")),
    ("home_mb", phrase("Size of the programs' home folder, in MB")),
    ("output_mb", phrase("Output after which a run is ended, in MB")),
)
_CHECKS = (
    ("verify", phrase("false: no checks after a task; true: red checks are a failure")),
    ("checks", phrase("The check commands of the project, one a line")),
    ("checks_seconds", phrase("Time of all checks together, in seconds")),
)
_RECORDS = (
    ("checkpoint_file_mb", phrase("The largest file that undo holds, in MB")),
    ("checkpoint_total_mb", phrase("What the checkpoints of a project may take, in MB")),
    ("checkpoint_days", phrase("Days for which checkpoints are kept")),
    ("operations_log", phrase("Write the operations log")),
    ("keep_json", phrase("Write the conversation to a JSON file after each turn")),
    ("trace", phrase("The file for OpenTelemetry spans")),
    ("trace_content", phrase("The trace holds what was said as well")),
)
_SCREEN = (
    ("lang", phrase("Language of the screen: en or zh")),
    ("keys", phrase("Keys of the line where you type in the terminal")),
    ("plain", phrase("The terminal draws nothing twice, for screen readers")),
    ("notify", phrase("How the terminal calls you when a task is done or asks")),
    ("notify_seconds", phrase("Seconds without a key after which you are called")),
    ("title", phrase("The title of the terminal's window says what the task does")),
    ("encoding", phrase("Encoding of text files that are not UTF-8")),
)

GROUPS: tuple[tuple[Phrase, tuple[tuple[str, Phrase], ...]], ...] = (
    (phrase("Keys and servers"), _SERVERS),
    (phrase("Model"), _MODEL),
    (phrase("Permissions"), _PERMISSIONS),
    (phrase("Cost and limits"), _COST),
    (phrase("Programs"), _PROGRAMS),
    (phrase("Checks"), _CHECKS),
    (phrase("Undo and records"), _RECORDS),
    (phrase("Language and text"), _SCREEN),
)
"""By the name of the group, its settings with what each is for; every setting stands in one."""
