"""Noticing a server that leaves out, without a word, what does not fit its window; Ollama does."""

from __future__ import annotations

_LEAST_GROWTH_BYTES = 200
_STEADY = 1.01
"""How much more than before a prompt that was cut may count."""
_NEARLY_FULL = 0.8
"""A prompt that was cut fills at least this part of the window."""
_MISSING = 0.9
"""Less than this part of the tokens that are to be expected is too little."""
_UNCACHED_TOKENS = 256
_NOTICES = 2
"""Requests one after the other; a single one that counts oddly says nothing."""


class SilentCut:
    """Compares the requests of one conversation with what the server counted for them.

    Each holds all of the one before, so its count has to grow; one that stays the same while the
    requests grow is that of the window.
    """

    def __init__(self) -> None:
        self._size = 0
        self._most = 0
        self._tokens_per_byte = 0.0
        self._notices = 0

    @property
    def is_suspected(self) -> bool:
        """Whether the last count says less than was sent."""
        return self._notices > 0

    def window(self, size: int, prompt_tokens: int) -> int:
        """Return the tokens that are left of a request of *size* bytes, 0 if all of it was read.

        *prompt_tokens* is what the server counted, without what is told apart as cached.
        """
        growth, self._size = size - self._size, size
        if growth < 0:  # older turns gave way: another conversation, as far as counts go
            self._most, self._notices = 0, 0
        is_cut = growth >= _LEAST_GROWTH_BYTES and self._says_less(growth, prompt_tokens)
        if is_cut or growth >= _LEAST_GROWTH_BYTES:
            self._notices = self._notices + 1 if is_cut else 0
        self._most = max(self._most, prompt_tokens)
        if not is_cut:
            self._tokens_per_byte = max(self._tokens_per_byte, prompt_tokens / size)
        return self._most if self._notices >= _NOTICES else 0

    def _says_less(self, growth: int, prompt_tokens: int) -> bool:
        """Return whether *prompt_tokens* are those of a full window.

        They are neither what the cache did not have, as some servers count.
        """
        is_steady = _NEARLY_FULL * self._most <= prompt_tokens <= _STEADY * self._most
        is_short = prompt_tokens < _MISSING * self._tokens_per_byte * self._size
        new = 2 * self._tokens_per_byte * growth + _UNCACHED_TOKENS
        return is_steady and is_short and prompt_tokens > new
