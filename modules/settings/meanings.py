"""What each setting is for, by the groups in which the screens show them."""

from __future__ import annotations

from utils.i18n import Phrase, phrase

_SERVERS = (
    ("deepseek_api_key", phrase("Your key from platform.deepseek.com")),
    (
        "deepseek_base_url",
        phrase("Address of DeepSeek or a compatible server, which gets that key"),
    ),
    ("anthropic_api_key", phrase("Your key for Claude")),
    ("anthropic_base_url", phrase("Address of Anthropic's API")),
    ("openai_api_key", phrase("Your key for OpenAI's models")),
    ("openai_base_url", phrase("Address of OpenAI's API")),
    ("providers", phrase("Other servers, each with an address and a key")),
    ("tavily_api_key", phrase("Your key for web search")),
    ("tavily_base_url", phrase("Address of the web search service")),
)
_MODEL = (
    ("model", phrase("Default model for new sessions")),
    ("mode", phrase("think: each task thinks before its first step")),
    ("depth", phrase("Depth of tasks; auto follows the rules")),
    ("effort", phrase("How hard the model thinks")),
    ("protocol", phrase("How the model calls tools: natively, or in text blocks (vcp)")),
    ("models", phrase("What a model's server supports")),
    ("max_tokens", phrase("Token limit per reply, including thinking")),
    ("context_limit", phrase("Size of the context window, in tokens")),
    ("idle_seconds", phrase("Timeout when a reply stalls, in seconds")),
    ("retries", phrase("Number of retries for a busy server")),
    ("project_map_tokens", phrase("Token limit of the project map; 0 for none")),
    ("mcp_tokens", phrase("Token limit for the tools of MCP servers")),
)
_PERMISSIONS = (
    ("approve", phrase("When to ask before a call runs")),
    (
        "network_hosts",
        phrase("Hosts that programs can reach once you allow the network, separated by spaces"),
    ),
    (
        "show_folders",
        phrase("Folders outside the project that programs can read, separated by colons"),
    ),
    ("hide_secrets", phrase("Replace secret values with names for the model")),
    (
        "allow_outside",
        phrase("Allow commands outside the sandbox without asking when no one is there"),
    ),
    ("allow_unsandboxed", phrase("Run programs without a sandbox if none is available")),
    ("web_terminal", phrase("Terminals of your own shell in the page: off, local or remote")),
    ("git_hooks", phrase("Run the repository's hooks on commit, in the sandbox")),
)
_COST = (
    ("task_budget", phrase("Cost limit per task, in US dollars; 0 for no limit")),
    ("daily_budget", phrase("Cost limit per day, in US dollars; 0 for no limit")),
    ("budget_usd", phrase("Cost limit per session, in US dollars; 0 for no limit")),
    ("when", phrase("off-peak: wait for the cheap hours")),
    ("helper_model", phrase("Model of helpers; empty for the session's own")),
    ("step_limit", phrase("Limit of model calls per task; 0 for no limit")),
    ("prices", phrase("Prices of models")),
)
_PROGRAMS = (
    ("run_seconds", phrase("Default time limit of a program, in seconds")),
    ("call_seconds", phrase("Longest time limit the model can request, in seconds")),
    ("memory_mb", phrase("Memory limit of a run, in MB")),
    ("processes", phrase("Limit of processes and threads per run")),
    ("disk_mb", phrase("Disk write limit of a run, in MB")),
    ("tmp_mb", phrase("Size limit of /tmp in a run, in MB")),
    ("home_mb", phrase("Size limit of the programs' home folder, in MB")),
    ("output_mb", phrase("Output limit of a run, in MB")),
)
_CHECKS = (
    ("verify", phrase("false: no checks after a task; true: failed checks fail the task")),
    ("checks", phrase("The project's check commands, one per line")),
    ("checks_seconds", phrase("Time limit of all checks together, in seconds")),
)
_RECORDS = (
    ("checkpoint_file_mb", phrase("Largest file that undo saves, in MB")),
    ("checkpoint_total_mb", phrase("Size limit of a project's checkpoints, in MB")),
    ("checkpoint_days", phrase("Days to keep checkpoints")),
    ("operations_log", phrase("Write the operations log")),
    ("keep_json", phrase("Save the conversation to a JSON file after each turn")),
    ("trace", phrase("File for OpenTelemetry spans")),
    ("trace_content", phrase("Include the conversation in the trace")),
)
_SCREEN = (
    ("lang", phrase("Display language: en or zh")),
    ("theme", phrase("Colors: auto, light, dark or high contrast")),
    ("keys", phrase("Keys of the terminal's input line: emacs or vim")),
    ("shortcuts", phrase("Keyboard shortcuts of both screens; /settings shortcuts lists them")),
    ("plain", phrase("Plain terminal output for screen readers")),
    ("notify", phrase("How the terminal notifies you when a task ends or asks")),
    ("notify_seconds", phrase("Seconds without a key before you are notified")),
    ("title", phrase("Show the state of the task in the window title")),
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

TESTED = (
    "model",
    *("deepseek_api_key", "deepseek_base_url", "anthropic_api_key", "anthropic_base_url"),
    *("openai_api_key", "openai_base_url", "tavily_api_key", "tavily_base_url"),
    *("show_folders", "network_hosts", "checks", "notify"),
)
"""The settings that there is something to test of."""
