"""The heart: turns, history, tools and commands, with no SDK, no socket and no colour."""
