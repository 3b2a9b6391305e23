"""Guessing the encoding of a text that is neither UTF-8 nor marked: of East Asia, or single bytes.

Every candidate must decode the whole file strictly; among those that do, the one whose text looks
most like the language it was made for wins. The languages are told apart by their commonest
characters and by the first level of their character sets, which was made to hold everyday words.
For these charset-normalizer was left out: it is made for long texts in a hundred encodings, and of
45 short texts it took 26 for something else, this module 4. Single bytes are told by chardet.
"""

from __future__ import annotations

import re

from utils.frozen import frozen

_SAMPLE_LENGTH = 1_000
_LIKELY = 0.35
_SURE = 0.55

_CHINESE = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发"
    "后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开"
    "但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并"
    "物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先"
    "海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变四神总何电数安少报才结"
)
_TRADITIONAL = (
    "這個們來為國說時會對過發後裡種經麼學現當沒動還進樣開從實無與長機關點業將兩間問並應戰頭體見產"
    "話給門東聲員論處義幾認條係氣題變總電數報結請點檔案設編輯資料夾"
)
_KOREAN = "이다는을가의에하고지한도로은를기사대서나리자인어아시그있것들수정해"
_MARKS = frozenset("，。、：；！？（）「」『』《》“”‘’—…　【】・ー〜")


@frozen
class Language:
    """An encoding; *common* characters count whole, those with a lead byte in *common_lead_bytes*
    half."""

    encoding: str
    common: frozenset[str]
    common_lead_bytes: range


_SIMPLIFIED = frozenset(_CHINESE)
_KANA = frozenset(map(chr, range(0x3041, 0x30FB)))
_LANGUAGES = (
    Language("gbk", _SIMPLIFIED, range(0xB0, 0xD8)),
    Language("gb18030", _SIMPLIFIED, range(0xB0, 0xD8)),
    Language("shift_jis", _KANA, range(0x88, 0x98)),
    Language("cp932", _KANA, range(0x88, 0x98)),
    Language("big5", _SIMPLIFIED | frozenset(_TRADITIONAL), range(0xA4, 0xC7)),
    Language("cp950", _SIMPLIFIED | frozenset(_TRADITIONAL), range(0xA4, 0xC7)),
    Language("euc_jp", _KANA, range(0xB0, 0xD0)),
    Language("euc_kr", frozenset(_KOREAN), range(0xB0, 0xC9)),
)


_preferred: list[str] = []
"""Encoding that the person's settings name, for the whole process: a file has one reading."""


def set_preferred(encoding: str) -> None:
    """Take *encoding*, a codec's name, for every text that it fits; "" for none."""
    _preferred[:] = [encoding] if encoding else []


def preferred() -> str:
    """Return the encoding that `set_preferred` named, "" for none."""
    return "".join(_preferred)


def guess(data: bytes) -> str | None:
    """Return the codec name of *data*, which is not UTF-8; None if it looks like no text."""
    from modules.files import single_byte  # for such text only

    if _preferred and single_byte.round_trips(data, _preferred[0]):
        return _preferred[0]
    scores = [(_score(language, data), language.encoding) for language in _LANGUAGES]
    score, encoding = max(scores, key=lambda pair: pair[0])
    if score >= _SURE:
        return encoding
    if detected := single_byte.detect_non_latin(data):
        return detected.encoding
    return encoding if score >= _LIKELY else _guess_latin(data)


def _score(language: Language, data: bytes) -> float:
    """Return how much *data* looks like *language*, 0 to 1."""
    try:
        text = data.decode(language.encoding)
    except UnicodeDecodeError:
        return 0.0
    non_ascii = [char for char in text[: _SAMPLE_LENGTH * 10] if char > "\x7f"][:_SAMPLE_LENGTH]
    if not non_ascii:
        non_ascii = [char for char in text if char > "\x7f"][:_SAMPLE_LENGTH]
    return sum(_weight(language, char) for char in non_ascii) / max(1, len(non_ascii))


def _weight(language: Language, char: str) -> float:
    if char in language.common or char in _MARKS:
        return 1.0
    encoded = char.encode(language.encoding, "ignore")
    is_common = (
        len(encoded) == 2
        and encoded[0] in language.common_lead_bytes
        and _is_regular(language, encoded)
    )
    return 0.5 if is_common else 0.0


def _is_regular(language: Language, encoded: bytes) -> bool:
    """Return whether *encoded* belongs to the first set, not to an extension in its gaps."""
    return encoded[1] >= 0xA1 or language.encoding in ("shift_jis", "cp932", "big5", "cp950")


# The signs of cp1252 and latin-1 that stand in ordinary text: € … ‘ ’ “ ” • – — £ § © « ° ± ² µ »
_SIGNS = b"\x80\x85\x91\x92\x93\x94\x95\x96\x97\xa0\xa3\xa7\xa9\xab\xb0\xb1\xb2\xb5\xbb"


_WESTERN = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœµªº")
_MISPLACED_SIGNS = (
    r"[^\W\d_][¡-¶¸-¿×÷][^\W\d_]|(?<![^\W\d_])[¤¦¨¬®¯±-´¶¸¹»-¾×][^\W\d_]|[^\W\d_][¡-©¬¯±¶¸¼-¿×÷]"
)
"""Signs next to letters, where only other letters could stand."""


def _guess_latin(data: bytes) -> str | None:
    """Return the codec of a text in Latin letters, of Western Europe unless another fits better."""
    from modules.files import single_byte  # for such text only

    western = _guess_western(data)
    if western and _is_western(data.decode(western)):
        return western
    detected = single_byte.detect_latin(data) if _may_be_latin(data) else None
    return detected.encoding if detected else western


def _is_western(text: str) -> bool:
    letters = {char for char in text if char > "\x7f" and char.isalpha()}
    return letters <= _WESTERN and not re.search(_MISPLACED_SIGNS, text)


def _may_be_latin(data: bytes) -> bool:
    sample = data[: _SAMPLE_LENGTH * 10]
    return sum(byte > 0x7F for byte in sample) <= len(sample) * 0.6


def _guess_western(data: bytes) -> str | None:
    """Return the codec of West European text: mostly ASCII, its other bytes mostly letters."""
    sample = data[: _SAMPLE_LENGTH * 10]
    high = [byte for byte in sample if byte > 0x7F]
    plausible = sum(byte >= 0xC0 or byte in _SIGNS for byte in high)
    if len(high) > len(sample) * 0.4 or plausible * 2 < len(high):
        return None
    if not re.search(rb"[\x80-\x9f]", data):
        return "latin-1"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return "cp1252"
