"""Secrets: found, replaced by names before anybody sees them, and put back where they work.

- env_files         Env files of a project, which hold settings not meant for others, and the
                    secrets in them.
- redactor          Secrets that the model works with and never sees: it reads and writes names in
                    their place.
- secret_encodings  Every form in which a secret may be seen in a text, and finding them all at
                    once.
"""

EXPORTS = {
    "env_files": ["is_env_name"],
    "redactor": ["NAME_START", "Secrets"],
}
