"""Kind lines: thanks in words that ask for nothing, in English, however they are put together."""

from __future__ import annotations

import re

_WORDS = (
    " a about absolute absolutely again all already always amazing amigo an and answer answers"
    " anyway appreciated are as assistance at awesome bad be been beer best better big"
    " brilliant bro buddy bye care clean clear clearly coffee completely cool cute damn day"
    " deal detailed done dude easy effort efforts enjoy enjoyed enough evening ever everything"
    " exactly excellent explained explaining explanation explanations extremely fantastic"
    " fascinating fast feedback finally fine fixing folks for friday friend from fun funny"
    " genius glad gonna good goodbye got great guidance guys had happy has have heard help"
    " helped helpful helping helps hero hilarious honestly hope hopefully hours how huge"
    " hurray i i'm i've im impressed in incredible information insight insights interesting is"
    " it it's its ive job just kind kindly later laugh laughed laughing learned learnt legend"
    " life lifesaver like literally lol looking lot lots love loved lovely lucky lunch made"
    " makes man many mate me million monday much my neat needed new news next nice nicely"
    " night no now of off oh ok okay omg on once one our owe patience perfect perfectly"
    " pleased pleasure pretty problem prompt quick quickly quite rare read reading really"
    " reply response right saturday save saved see sense service sharing showing sir smart"
    " smooth smoothly so solved soon sorry star stuff such sunday super support surprised"
    " sweet teaching team that that's thats the these this those thursday time to today"
    " tomorrow too totally trouble truly tuesday u understand ur us useful very wanted was way"
    " we wednesday weekend well were what whole wonderful words work worked working works"
    " worth wow yay you you're you've your youre "
)
"""Words that are said beside thanks and ask for nothing."""
_THANKS = (
    " appreciate appreciated cheers danke gracias grateful gratitude merci thank thanks thanx"
    " thnx thx tnx ty tysm "
)
_PRAISE = (
    " amazing awesome brilliant excellent fantastic impressed incredible lovely perfect wonderful"
    " glad bye goodbye hilarious "
)
_MAY_ASK = (
    " answer better care clean enjoy have help hope laugh like make prompt read reading reply"
    " save see service share support team understand words work working "
)
"""Words of these that ask for something where they begin a sentence, or stand after one."""
_MAY_STAND_BEFORE = (
    " a all always amazing an appreciate at awesome be been best better brilliant clear couldn't"
    " detailed even excellent extremely fantastic fast finally for from gonna good great had"
    " happy hard has have helpful i i'll i've in incredible is it it's its ive just kind lovely"
    " lucky made me much my neat nice nicely no now of on one our patience perfect perfectly"
    " pleased pleasure pretty prompt quick quite really smart smooth so such super that that's"
    " thats the these this those to truly u ur us useful very was way we we'll were wonderful"
    " you you're you've your "
)
"""What stands before such a word where it asks for nothing: a great work, to help, I read."""
_SAYS_SOMETHING = (
    " am are explained had has heard helped helps i'm i've im is it's ive learned loved made"
    " makes needed read rock saved solved that's thats was were worked works you're you've youre "
)
_MAY_BE_A_PART = " all best better everything it now one that the these this those "
"""What a sentence of no verb begins with that names what is to be done: "the fast one"."""
_WISHES = (["have", "a"], ["enjoy", "your"], ["see", "you"], ["see", "u"])
_ENTRIES = (["lunch", "on"], ["coffee", "on"], ["lunch", "for"], ["coffee", "for"])
"""What an entry of a calendar begins with."""
_CLAUSE = re.compile(r"[,.!;:…()*~]+(?=\s|$)|\s[-–—]\s|\b(?:and|then)\b")
_GO_ON_AFTER_THANKS = (
    r"for|so|a|very|much|lots|again|all|everyone|team|guys|man|bro|mate|anyway|to|indeed|kindly"
)
_WAS_BETTER = re.compile(r"\bbetter (?:as|when|like)\b")
"""What says that another state is wanted again."""
_THANKED = re.compile(
    r"\b(?:thank (?:you|u|ya)|thanks|thx|thnx|tnx|thanx|ty|tysm|cheers|gracias|merci|danke)"
    rf"(?= (?!(?:{_GO_ON_AFTER_THANKS})\b))"
)
"""Thanks after which another sentence begins, with no sign between them."""
_SIGNS = (
    " \t\r,.!;:~…*\"'()-–—，。！；：、～“”·🙏👏🎉😊🙂😀😃😄😁😂🤣😅❤♥💯🥳😍🤗👋✨💪🔥😎🙌\ufe0f"
)


def is_kind(text: str) -> bool:
    """Return whether *text*, in small letters, thanks in words that ask for nothing."""
    if any(sign in text for sign in '?/\\`"@#') or _WAS_BETTER.search(text):
        return False
    clauses = [_words(clause) for clause in _CLAUSE.split(_THANKED.sub("thanks.", text))]
    words = [word for clause in clauses for word in clause]
    if not any(_is_in(_THANKS + _PRAISE, word) for word in words):
        return False
    if not all(_is_in(_THANKS + _PRAISE + _WORDS, word) for word in words):
        return False
    return not any(_asks(clause) for clause in clauses)


def _is_in(words: str, word: str) -> bool:
    return bool(word) and f" {word} " in words


def _words(clause: str) -> list[str]:
    return [word for one in clause.split() if (word := one.strip(_SIGNS))]


def _asks(clause: list[str]) -> bool:
    """Return whether *clause* may ask for something, be it in words that are kind."""
    for number, word in enumerate(clause):
        before = clause[number - 1] if number else ""
        is_wish = clause[number : number + 2] in _WISHES
        if _is_in(_MAY_ASK, word) and not _is_in(_MAY_STAND_BEFORE, before) and not is_wish:
            return True
        if word == "again" and not _is_in(_THANKS + " you ", before):
            return True
    rest = [word for word in clause if not _is_in(" oh ok okay so wow ", word)]
    is_part = bool(rest) and (_is_in(_MAY_BE_A_PART, rest[0]) or rest[:2] in _ENTRIES)
    says_something = any(_is_in(_SAYS_SOMETHING + " ever ", word) for word in clause)
    return is_part and not says_something
