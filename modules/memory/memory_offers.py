"""Sentences of the person that may be worth remembering: found by rule, offered once.

Nothing of this enters the memory by itself; the person says yes with `/remember`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

from modules.memory.memory_items import category_of, item_line
from utils.system.shared_file import SharedFile

_MAX_READ = 2_000  # characters of a message: what was pasted is not the person speaking
_MAX_SENTENCE = 300
_MOST_KEPT = 1_000
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^>[^\n]*", re.DOTALL | re.MULTILINE)
_SENTENCE = re.compile(
    r"[^.!?。\uff01\uff1f\n]+(?:\.(?=\w)[^.!?。\uff01\uff1f\n]+)*[.!?。\uff01\uff1f]*"
)
_LAST_STOP = re.compile(r"[.!。\uff01\s]+$")
_ASKED = re.compile(r"[?\uff1f]\s*$|[吗么呢]\s*[。!\uff01.]?\s*$")

_RULES = [
    (
        "fact",
        r"(?:please )?(?:remember|keep in mind|don't forget|do not forget)(?:,? that|:)? "
        r"(?!to\b|me\b|when\b|how\b|the (?:time|day)\b)(?P<what>.+)",
    ),
    ("fact", r"(?P<what>my name is .+|call me .+)"),
    (
        "preference",
        r"(?P<what>i(?: would|'d)? (?:really |always |much )?"
        r"(?:prefer|like|love|hate|dislike|do not like|don't like) "
        r"(?!(?:it|this|that|these|those|what|how|the way|your?|to (?:see|know|have))\b).+)",
    ),
    ("preference", r"(?P<what>(?:from now on|in future|in the future),? .+)"),
    ("fact", r"(?:请|请你|麻烦)?(?:记住|记得|别忘了|不要忘记)[,\uff0c:\uff1a ]*(?P<what>.{2,})"),
    ("fact", r"(?P<what>(?:我的名字是|我的名字叫|我叫|我姓|叫我).+)"),
    ("preference", r"(?P<what>我(?:更|比较|很|最|不|都)?(?:喜欢|偏好|讨厌)(?!这|那|它|你).+)"),
    (
        "preference",
        r"(?P<what>(?:以后|今后|从现在起|从今往后)[,\uff0c]?(?:请|都|一律|不要|别|用)?.+)",
    ),
]
_PATTERNS = [(category, re.compile(rule, re.IGNORECASE)) for category, rule in _RULES]


@dataclass(frozen=True, slots=True)
class Offer:
    """A sentence that the person may wish to be remembered, as what."""

    text: str
    category: str

    @property
    def line(self) -> str:
        return item_line(self.category, None, self.text)


def find_offer(message: str) -> Offer | None:
    """Return what of the person's *message* sounds as if it should last, None where nothing does.

    What is quoted, code, or a question is not what they say.
    """
    for sentence in _SENTENCE.findall(_QUOTED.sub(" ", message[:_MAX_READ])):
        said = " ".join(sentence.split())
        if _ASKED.search(said) or len(said) > _MAX_SENTENCE:
            continue
        for category, pattern in _PATTERNS:
            if found := pattern.match(said):
                what = _LAST_STOP.sub("", found["what"].strip())
                if what:
                    return _labelled(what, category)
    return None


def _labelled(what: str, category: str) -> Offer:
    """Return the offer of *what*; one that begins "I like" after "remember" is a preference."""
    again = next((c for c, p in _PATTERNS if c == "preference" and p.match(what)), None)
    return Offer(what, category_of(again or category) or "fact")


class OfferedTexts:
    """What was offered in the project before, kept in the file of *file*: never the same twice."""

    def __init__(self, file: SharedFile) -> None:
        self._file = file

    def add(self, offer: Offer) -> bool:
        """Keep that *offer* is made; return whether it is the first time."""
        digest = hashlib.sha256(offer.text.casefold().encode("utf-8", "replace")).hexdigest()[:16]
        is_new: list[bool] = []

        def added(before: bytes) -> bytes:
            offered = _offered(before)
            is_new[:] = [digest not in offered]
            return json.dumps([*offered, *[digest] * is_new[0]][-_MOST_KEPT:]).encode()

        self._file.change(added)
        return is_new[0]


def _offered(data: bytes) -> list[str]:
    try:
        offered = json.loads(data or b"[]")
    except ValueError:  # damaged: something may be offered once more
        return []
    return [one for one in offered if isinstance(one, str)] if isinstance(offered, list) else []
