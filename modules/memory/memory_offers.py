"""Sentences of the person that may be worth remembering: found by rule, offered once.

Nothing of this enters the memory by itself; the person says yes with `/remember`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
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

_OPENING = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks(?: a lot)?|thank you|ok|okay"
    r"|yes|no|sure|great|and|but|also|oh|so|well|btw|by the way|fyi|ps|p\.s\.?|please|again"
    r"|one more thing|another thing|(?:quick )?note|just so you know|for (?:future reference"
    r"|the record))(?:\s*[,;:!\u2013\u2014-]+\s*|\s+|$)"
    r"|(?:你好|您好|嗨|哈喽|大家好|谢谢|好的?|对了|哦|嗯|另外|还有|而且|此外|那个|顺便(?:说(?:一下|一句)?"
    r"|提一下|一提)?|补充一下|提醒一下|注意)(?:[\s,\uff0c;\uff1b:\uff1a!\uff01、]+|(?=请|我|帮|记|麻烦|以后|今后)))+",
    re.IGNORECASE,
)
"""Words with which a sentence begins that say nothing of their own."""
_CLAUSE = re.compile(
    r"[,;\uff0c\uff1b]\s*(?:(?:and|but|also)\s+|(?:另外|还有|而且|并且|同时|此外)[,\uff0c\s]*)?"
    r"(?:please\s+)?",
    re.IGNORECASE,
)
_CLAUSE_ONLY = r"[^,;\uff0c\uff1b]+"
"""What a name ends with: behind it may stand what is to be done."""
_VERB = (
    r"(?:is|are|am|was|were|has|have|does|do|don['’]t|doesn['’]t|must|should|needs?|never|always"
    r"|can|cannot|can['’]t|will|won['’]t|runs?|uses?|lives?|only|prefer|like|love|hate|deploy"
    r"|supports?|work|works)"
)
_ONE_CHOICE = (
    r"(?:it|this|that|these|those|them|both|what|where|how|who|when|your?|not|to (?:see|know|have)"
    r"|the (?!.*\b(?:to be|over)\b))\b"
)
"""What is liked for the moment: something at hand, not a kind of things."""
_LASTS = r"(?=.*\b(?:from now on|in (?:the )?future|always|in general|every time)\b)"
_SAID_OFTEN = (
    r"(?:(?:really|always|much|strongly|generally|usually|normally|personally|absolutely"
    r"|definitely|actually|rather|still) )*"
)

_EVERYWHERE = [
    (
        "fact",
        r"(?:remember|keep in mind|don['’]t forget|do not forget)"
        rf"(?:,? that|:|,)? (?!to\b|me\b|when\b|how\b|the (?:time|day)\b)(?P<what>.*\b{_VERB}\b.*)",
    ),
    ("fact", r"(?:remember|keep in mind|don['’]t forget|do not forget)(?:,? that|:) (?P<what>.+)"),
    (
        "fact",
        r"(?P<what>my name is (?!not\b|now\b|still\b|never\b|also\b|on\b|in\b|the\b|shown\b"
        rf"|displayed\b|missing\b|wrong\b|\w*spel|gone\b|cut\b|too\b){_CLAUSE_ONLY})",
    ),
    (
        "preference",
        r"(?P<what>(?:from now on|in (?:the )?future),? (?!it\b|this\b|that\b|everything\b"
        r"|they\b|there\b|(?:the|my|our) [\w ]{1,30}\b(?:is|are|works?|fails?)\b).+)",
    ),
    (
        "fact",
        r"(?:请你?|麻烦你?|帮我|帮忙)*(?:记住|记一下)[,\uff0c:\uff1a ]*"
        r"(?!用户|密码|登录|账号|我的选择|上次)(?P<what>.{2,})",
    ),
    (
        "preference",
        r"(?P<what>(?:以后|今后|从现在起|从今往后)(?!再|吧|可能|也许|会|还|才|想)"
        r"(?=.*(?:请|都|一律|不要|别|不许|只|统一|必须|每次|总是|默认|尽量|一定|记得|用|先|要)).+)",
    ),
]
"""Rules that hold for each clause of a sentence: what is to last, and as what."""
_AT_BEGINNING = [
    (
        "fact",
        r"(?:you can |you may |just )?(?P<what>call me (?!back\b|when\b|if\b|later\b|after\b"
        rf"|once\b|on\b|at\b|by\b|again\b){_CLAUSE_ONLY})",
    ),
    (
        "preference",
        rf"(?P<what>i {_SAID_OFTEN}(?:would {_SAID_OFTEN}prefer|prefer|like|love|hate|dislike"
        rf"|(?:do not|don['’]t) {_SAID_OFTEN}like) (?!{_ONE_CHOICE}).+)",
    ),
    ("preference", rf"(?P<what>i['’]d {_SAID_OFTEN}prefer (?!{_ONE_CHOICE}).+)"),
    (
        "preference",
        rf"(?P<what>i(?: would|['’]d) {_SAID_OFTEN}(?:like|love|prefer) (?:you to |it if )"
        rf"{_LASTS}.+)",
    ),
    (
        "fact",
        r"(?:请你?)?(?:记得|别忘了|不要忘记|别忘记)(?:[,\uff0c:\uff1a ]+|(?=我们?|咱们?|项目|所有"
        r"|每|只|永远|以后|不要|从不|这个?项目))(?!.*[吗呢么])(?P<what>.{2,})",
    ),
    (
        "fact",
        r"(?P<what>(?:我的名字(?:是|叫)(?![空不错没什])|我叫(?![你他她它不了停过去来人])|我姓|叫我(?![停回怎来去改做]))"
        rf"{_CLAUSE_ONLY})",
    ),
    (
        "preference",
        r"(?P<what>我(?:更|比较|很|最|不|都|一般|一向|通常|还是|也)*(?:喜欢|偏好|讨厌)"
        r"(?!这|那|它|你|您|第[一二三四五六七八九十\d]|刚才|上面|下面|前面|后面|新的|旧的|现在|左边|右边).+)",
    ),
]
"""Rules for the beginning of a sentence alone."""
_CLAUSE_PATTERNS = [(category, re.compile(rule, re.IGNORECASE)) for category, rule in _EVERYWHERE]
_PATTERNS = [
    *_CLAUSE_PATTERNS,
    *((category, re.compile(rule, re.IGNORECASE)) for category, rule in _AT_BEGINNING),
]


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
        opening = _OPENING.match(said)
        begun = said[opening.end() :] if opening else said
        if offer := _offer_in(begun, _PATTERNS):
            return offer
        for clause in _CLAUSE.finditer(begun):
            if offer := _offer_in(begun[clause.end() :], _CLAUSE_PATTERNS):
                return offer
    return None


def _offer_in(said: str, patterns: Sequence[tuple[str, re.Pattern[str]]]) -> Offer | None:
    for category, pattern in patterns:
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
