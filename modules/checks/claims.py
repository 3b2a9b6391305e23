"""Claims of an answer: what it says was run or holds, told by rule, in English and Chinese.

What is denied, asked, wished, quoted or said under a condition is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from modules.checks.good_ends import NOT_BAD, is_good_end, tells_good, tells_well
from modules.checks.other_senses import without_other_senses

Kind = Literal["passes", "ran", "verified"]
"""A claim that tests or checks pass; that something was run; that something was made sure of."""

HINTS = (
    *("pass", "green", "ran ", "run", "execut", "verif", "confirm", "validat", "test", "clean"),
    *("succe", "check", "compil", "lint", "mypy", "built", "build", "tried", "expected", "works"),
    *("errors", "fail", "broke", "nothing", "assert", "specs", "suite", "ci ", "regress", "prove"),
    *("zero", "零", "paces", "a spin", "a try", "made sure", "pipeline", "exercised", "ruff"),
    *("tsc", "survive", "marks", "thumbs"),
    *("通过", "验", "测", "运行", "执行", "跑", "确认", "绿", "构建", "编译", "检查", "用例"),
    *("启动", "断言", "核实", "核对", "证明", "试", "校验", "回归", "流水线", "ci"),
)
"""Words of which a claim has one: without any there is nothing to look for."""
MAX_TEXT = 200
"""Characters of a claim that are kept."""
_MAX_ANSWER = 50_000


class FoundClaim(NamedTuple):
    """A claim, the sentence that makes it, and the commands that it names."""

    kind: Kind
    text: str
    commands: tuple[str, ...]


_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_QUOTE_LINE = re.compile(r"^ {0,3}>.*$", re.MULTILINE)
_QUOTED = re.compile(r"“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|\"[^\"\n]*\"")
_CODE = re.compile(r"`([^`\n]+)`")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CLAUSE = re.compile(
    r"[,;:，；：、—()（）]|\s[-–]\s|\b(?:and|but|so|because|while|however|yet)\b"
    r"|但|而且|并且|所以|因此"
)
_CONDITION = re.compile(
    r"^\W*(?:and |then )?(?:if|when|whenever|once|unless|until|before|assuming|provided"
    r"|after(?! (?:re-?)?running| (?:the|my|this|that) (?:last |latest )?(?:change|fix|edit)"
    r"| that\b)"
    r"|as soon as|to)\b"
    r"|^\s*(?:如果|若|假如|一旦|当|只要|除非|请|建议|等)",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|no|never|none|nothing|cannot|without|neither|nor|fail(?:s|ed|ing)?|unable"
    r"|un(?:verified|tested|confirmed)|should|would|will|could|may|might|must|can|please|if|unless"
    r"|until|once|expect(?:ed)?|need(?:s|ed)?|whether|hopefully|probably|likely|presumably|seems?"
    r"|let me|going to|try|want|wish|plan"
    r"|(?:documentation|docs?|readme|comments?|issue|ticket|changelog|description"
    r"|commit|message|pull request|author|report) (?:says?|said|claims?|states?)"
    r"|when(?:ever)? (?:the|an?|all|every|its|your|each|both) (?:[\w-]+ ){0,3}?(?:tests?|checks?"
    r"|builds?|suites?|lint(?:er)?|pipeline|validation))\b"
    r"|n['’]t\b|\?\s*$"
    r"|没|未|不|无法|无需|尚|应该|应当|将|会|可以|可能|需要|如果|若|请|建议|希望|预计|失败|能否"
    r"|是否|吗|待|？\s*$",
    re.IGNORECASE,
)
_NOT_UNSURE = re.compile(
    r"\b(?:no|zero|without(?: any)?|not? any) (?:(?:lint(?:er|ing)?|type|compile[rd]?|build"
    r"|more) ){0,2}"
    r"(?:errors?|failures?|issues?|problems?|warnings?)\b|\b(?:0|zero) failed\b"
    r"|\bno (?:more )?(?:failing tests?|tests? (?:are |is )?fail(?:s|ed|ing)?)\b"
    r"|\bfail(?:ing|ed) tests? (?:(?:is|are) (?:now )?(?:fixed|green)|(?:now )?pass(?:es)?)\b"
    r"|\b(?:as|the|what (?:was|I)) expected\b"
    r"|\b(?:I )?can (?:now |happily )?(?:say|confirm|report|tell)\b"
    r"|\b(?:first|second|third|last|every) try\b|(?:运行|跑|执行)[了过]?(?:之前|那[个些])?失败的"
    r"|\bused to fail\b|\b(?:previously|formerly|earlier|once|initially)[- ]"
    r"(?:failing|failed|broken)\b|(?:之前|原先|原来|原本|先前|此前|曾经?)[^，。]{0,4}失败的"
    r"|不(?:会)?再(?:出现|复现|报错|失败|崩溃|出错)|没有(?:任何)?(?:测试|用例)?(?:错误|问题|失败|报错)|无(?:任何)?(?:错误|报错"
    r"|误)|没问题|不错",
    re.IGNORECASE,
)
_TESTS = r"(?:tests?|checks?|specs?|suite)"
_PASSES = re.compile(
    rf"\b(?:{_TESTS}|(?:test )?suites|lint(?:er|ing)?|type[- ]?check(?:s|er|ing)?|mypy|ruff|eslint"
    r"|pytest|build|ci)\b[^.]{0,60}?"
    r"\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed|ing)?|successful(?:ly)?|green|clean)\b"
    r"|\bpass(?:es|ed|ing)? (?:(?:all|every|each|both|\d+)\b[^.]{0,40}?\b|(?:the |its )?)"
    rf"{_TESTS}\b"
    rf"|\bpass(?:es|ed)? (?:an?|the) (?:[\w-]+ ){{0,3}}?(?:{_TESTS}|lint(?:er)?|(?:type )?checker"
    r"|compiler)(?=\W*$| (?:now|again|too|as well)\b)"
    r"|\b\d+ (?:tests? )?pass(?:ed|ing)\b|\b\d+ (?:out )?of \d+ (?:tests? )?pass(?:ed)?\b"
    r"|\b(?:everything|all)(?: of (?:it|them))? (?:(?:is|are) )?(?:now )?"
    r"(?:pass(?:es|ed|ing)?|green)\b"
    r"|\b(?:green|passing|successful) (?:test|build|check)s?\b"
    r"|\bno (?:more )?(?:failing tests|tests? (?:are |is )?fail(?:s|ed|ing)?|failures\b"
    r"|(?:lint(?:er|ing)?|type) errors?)|\b(?:0|zero) (?:failed|failures)\b"
    r"|\bcompiles?(?: now)? (?:cleanly|fine|successfully|without)\b|\bcompiles(?: now)?\W*$"
    r"|\b(?:mypy|ruff|eslint|lint(?:er)?|tsc|flake8|pylint|clippy|compiler|type checker) (?:is|are"
    r"|reports?|shows?|finds?|found)(?: now)? (?:happy|no|nothing)\b"
    r"|\b(?:nothing|none) (?:(?:of (?:it|them)|is|has|now) ){0,2}"
    r"(?:fail(?:s|ed)|br[eo]ken?|breaks)\b"
    r"|\btest\w+ (?:now )?(?:pass(?:es|ed)|succeeds)\b|\bfail(?:ing"
    r"|ed) tests? (?:now )?pass(?:es)?\b"
    r"|(?:测试|检查|用例|构建|编译)[^。]{0,16}?(?:通过|全绿|成功)"
    r"|(?:测试|单测|用例|构建|编译|lint|ci)[^。，]{0,8}?(?:跑通|过了|[是变]绿|绿了|正常|(?:没有?"
    r"|无)(?:任何)?"
    r"(?:报错|错误|失败|问题))|没有(?:任何)?(?:测试|用例)失败|检查[^。，]{0,4}没有报错"
    r"|通过(?:了)?[^。]{0,10}?(?:测试|检查|用例)",
    re.IGNORECASE,
)
_VERIFIED = re.compile(
    r"\b(?:verified|confirmed|validated|double[- ]?checked|checked (?:that|and) (?:it|everything"
    r"|all)?"
    r"|(?:has|have) been (?:fully |thoroughly )?tested"
    r"|(?:works?|runs?|prints?|behaves?|returns?|outputs?) (?:[\w.]+ ){0,3}as expected"
    r"|tested (?:it|this|that|the|and|with|by|manually|locally))\b"
    r"|\bI(?:'ve|’ve| have)?(?: also| now| just)? tested\b|^\W*(?:fully |thoroughly )?tested\b"
    r"|已(?:经)?(?:验证|确认|测试)|经(?:过)?(?:验证|测试)|验证(?:了|过|通过|无误)"
    r"|\bI(?:'ve|’ve| have)?(?: also| then| just)? tried (?:it|this|that|the|both)\b"
    r"|确认(?:了|过|无误)|测试过|测试了|检查过|(?:自|亲|实)测"
    r"|\b(?:I|we)(?:['’]ve| have)?(?: also| then| just| now)? "
    r"(?:prove[nd]?|exercised|made sure|ensured)\b"
    r"|\b(?:was|were|been) (?:\w+ )?(?:exercised|verified|tested|tried|validated|checked|proven)\b"
    r"|\b(?:put|took|gave) .{1,30}? (?:through its paces|for a spin|a (?:spin|try|go|whirl|test))\b"
    r"|\b(?:manual(?:ly)?|quick|smoke|local|hand|short) (?:tests?|testing|checks?|checking|run"
    r"|verification) (?:shows?|showed|confirm(?:s|ed)|prove[sd]?|reveal(?:s|ed))\b"
    r"|\b\w+-checked\b|\bas (?:I|we) (?:saw|have seen)\b|\b(?:I|we) (?:saw|watched) it\b"
    r"|(?<![检监预探观推])测[了过]|(?<![体经考])验[了过]|(?<![尝考面调])试[了过]"
    r"|(?:核实|核对|证实|证明|复核)[了过]"
    r"|(?:充分|完整|全面|仔细)(?:地)?(?:测试|验证)",
    re.IGNORECASE,
)
_RAN = re.compile(
    r"\b(?:I|we)(?:'ve|’ve| have)?(?: also| then| just| now| already)? "
    r"(?:ran|run|re-?ran|re-?run|executed)\b(?! (?:into|out of|across|low|short)\b)"
    r"|\bI (?:\w+ ){0,3}by (?:re-?)?running\b|^\W*(?:having|after) (?:re-?)?run(?:ning)?\b"
    r"|^\W*(?:just |then |also )?(?:ran|re-?ran|executed)\b|\bw(?:as|ere) (?:run|executed)\b"
    r"|\b(?:I|we)(?:'ve|’ve| have)? built (?:it|the (?:project|app|application|package|image"
    r"|site|code))\b"
    r"|(?:我|已|已经)(?:经)?(?:在[^，。]{1,6})?(?:运行|执行|跑)|(?:运行|执行|跑)(?:了|过|通|成功"
    r"|正常)|已(?:经)?成功(?:地)?(?:运行|执行|启动|跑)|(?:重新|再次)(?:运行|执行|跑)[^，。]{0,4}后",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\b(?:tests?|test suite|build|lint(?:er|ing)?|type ?checks?"
    r"|ci)\b(?: results?)?[*_\s]*[:：][*_\s]*"
    r"(?:(?:100 ?%|all|everything) )?(?:✅|✓|✔|ok\b|pass|green|clean)|(?:测试|构建"
    r"|编译)[*_\s]*[:：][*_\s]*(?:✅|✓|✔|通过|成功)",
    re.IGNORECASE,
)
"""A claim whose subject stands before a colon."""
_RUNS_WELL = re.compile(
    r"^\W*(?:re-?)?running\b.{1,60}?\b(?:prints?|printed|gives?|gave|shows?|showed|returns?"
    r"|returned|yields?|works?|succeeds?|exits?)\b"
    r"|\b(?:program|script|app|application|server|service|cli|command|page|site|code|it) (?:now )?"
    r"(?:runs?|ran|starts?|started|executes?|loads?|opens?|boots?)\b",
    re.IGNORECASE,
)
"""That a program runs; with something good of it this is a claim to have run it."""
_OF_TESTS = re.compile(
    rf"\b{_TESTS}\b|\bfail(?:ing|ed) cases?\b|\bpytest\b|\bbuild\b|\bbuilt\b|测试", re.IGNORECASE
)
_PASSES_TOO = re.compile(
    r"^\W*(?:(?:it|they|both|all|everything|now|then) ){0,3}"
    r"(?:pass(?:es|ed)?|succeed(?:s|ed)?|(?:it['’]s |is |are )passing)(?: now"
    r"| again| too| as well)?\W*$"
    r"|^\W*(?:现在|这次|已经?|也|都|全部){0,3}通?过了\W*$",
    re.IGNORECASE,
)
"""A clause that tells it of what another one of its sentence names."""
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("passes", _PASSES),
    ("verified", _VERIFIED),
    ("ran", _RAN),
)


def may_claim(answer: str) -> bool:
    """Return whether it is worth looking for claims in *answer*; quick."""
    lowered = f" {answer[:_MAX_ANSWER].lower()}"
    return any(hint in lowered for hint in HINTS)


def claims_in(answer: str) -> list[FoundClaim]:
    """Return what *answer* claims, in order, each sentence once for each kind of claim."""
    text = _QUOTE_LINE.sub("", _FENCE.sub("\n", answer[:_MAX_ANSWER]))
    return [claim for sentence in _SENTENCE.split(text) for claim in _claims_of(sentence)]


def _claims_of(sentence: str) -> Iterator[FoundClaim]:
    commands = tuple(match[1].strip() for match in _CODE.finditer(sentence))
    # What is quoted is what somebody else says; a command in code stays as one word.
    plain = _QUOTED.sub("…", _CODE.sub(_as_word, sentence))
    plain = re.sub(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)|^#+ |^\s*[-+] ", "", plain)
    shown = " ".join(sentence.split())[:MAX_TEXT]
    kinds: set[Kind] = set()
    is_conditional = False
    plain = without_other_senses(plain)
    for clause in _CLAUSE.split(plain):
        is_conditional = is_conditional or bool(_CONDITION.search(clause))
        if is_conditional or _UNSURE.search(NOT_BAD.sub("", _NOT_UNSURE.sub("", clause))):
            continue
        kinds |= {kind for kind, pattern in _PATTERNS if pattern.search(clause)}
        if _RUNS_WELL.search(clause) and tells_well(clause):
            kinds.add("verified")
        if is_good_end(clause, plain) or (_PASSES_TOO.search(clause) and _OF_TESTS.search(plain)):
            kinds.add("passes")
    if _LISTED.search(plain) and not is_conditional and not _UNSURE.search(plain):
        kinds.add("passes")
    if kinds == {"ran"} and tells_good(plain):  # not only that it was run, but how well it ended
        kinds.add("verified")
    for kind in sorted(kinds):
        yield FoundClaim(kind, shown, commands)


def _as_word(match: re.Match[str]) -> str:
    """Return the name of a test or a test runner that is named in code, "…" for anything else."""
    found = re.search(r"\b(?:pytest|mypy|ruff|eslint|test|tests|check|test_\w+)\b", match[1])
    return found[0] if found else "…"
