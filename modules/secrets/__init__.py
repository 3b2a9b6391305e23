"""Secrets: found, replaced by names before anybody sees them, and put back where they work.

- env_files         The files of a project that hold settings not meant for others, and which of
                    these are secret.
- redactor          Secrets that the model works with and never sees: it reads and writes names in
                    their place.
- secret_encodings  Every form in which a secret may be seen in a text, and finding them all at
                    once.
"""
