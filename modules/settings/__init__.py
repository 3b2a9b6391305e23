"""Settings, for people: shown with where each comes from, and kept in `config.toml`.

- config_file  What `config.toml` says, and changes of it, one setting at a time; comments and
               order stay.
- feature      The settings, for people: `/settings` shows and keeps them, `/theme` chooses the
               colors.
- kept         The settings that hold beside what `config.toml` says.
- live         The settings that hold now: those of the start, and those that took effect since.
- meanings     What each setting is for, by the groups in which the screens show them.
- setting_tests
               Tests of settings: a real request to a model's server, a folder looked at, a host
               resolved.
"""

EXPORTS = {
    "config_file": ["keep_setting"],
    "feature": ["THEME", "SettingsCommand"],
    "kept": ["Setting"],
    "live": ["LiveSettings"],
}
