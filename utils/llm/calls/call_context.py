"""Classification of a call by the words around it: one that is made, or an example of one.

The words of a model that calls are few: none, or what it does now. A call is made where the reply
ends with it, and the sentence before it announces it or is a plain remark on the work. Where that
sentence speaks of texts, calls or formats, quotes somebody, asks or offers, nobody can tell.
"""

from __future__ import annotations

import re

_LONGEST_SENTENCE = 400
_THINKING_TAG = re.compile(
    r"\A\s*(?:<(?P<tag>think|thinking|thought|reasoning|reflection|scratch_?pad)>.*?</(?P=tag)>"
    r"|<\|START_THINKING\|>.*?<\|END_THINKING\|>|<\|channel\|>analysis<\|message\|>.*?<\|end\|>)",
    re.DOTALL,
)
"""Thinking that is left in the text: it announces nothing and quotes nothing."""
_THOUGHT_BEHIND = re.compile(
    r"<\|channel\|>analysis<\|message\|>(?:(?!<\|).){0,20000}<\|end\|>\s*\Z", re.DOTALL
)
"""The same of gpt-oss, between its words and its call."""
_EXAMPLE_WORDS = re.compile(
    r"\b(?:example|sample) (?:\w+ )?(?:calls?|blocks?|requests?)\b|\bexamples?\s*[:：]"
    r"|\b(?:this|that|the following|these) examples?\W*\Z"
    r"|\b(for example|for instance|an? example|e\.g\.|such as\W*\Z|looks? like"
    r"|(syntax|markup)\b(?!\s+(errors?|in)\b|\s+of\b(?! an? (\S+ )?call))"
    r"|(in|of) (this|the following|the same) (format|form)|format (is|for|like|of an? \S*\s?call|:)"
    r"|illustrat\w+|demonstrat\w+|hypothetical\w*"
    r"|(do not|does not|don't|never) (call|run|execute|use|write|send|output|emit))\b"
    r"|例如|比如|示例|例子|格式(?!化)|语法(?!错误)|样子|写法|形如|不要(调用|运行|执行|写)",
    re.IGNORECASE,
)
"""Words around a call that is an example."""
_SPOKEN_OF = re.compile(
    r"\b(?:calls?|calling|tool\w*|invo\w+|models?|assistants?|agents?|protocols?|markers?|repl(?:y|ies)"
    r"|blocks?|messages?|syntax (?:of|is|for)|logs?|printed|answered|transcripts?|documentation)\b"
    r"|调用|工具|模型|助手|协议|标记|回复|写法|日志|消息",
    re.IGNORECASE,
)
"""Words of a text about calls: what it says it does may be a part of its example."""
_DEED = re.compile(
    r"\b(?:I'll|I’ll|I will|I am going to|I'm going to|I’m going to|let me|I need to|I have to)"
    r"\s+(?:(?:now|first|then|quickly|just|also|start|begin|proceed|by|with|to)\s+)*"
    r"(?:creat|writ|read|open|edit|modif|chang|run|execut|search|look(?:ing)? (?:at|in|for)|check"
    r"|see|list|updat|delet|remov|renam|mov|fix|mend|add|mak|find|inspect|examin|implement|explor|analy"
    r"|append|replac|insert|install|test|correct|rewrit|us(?:e|ing)|prepar|the)\w*\s+(?!down\b|out\b)\S"
    r"|\A(?:now\s+)?(?:creat|writ|read|updat|edit|delet|runn|search|list|fix|add|check)ing\s+\S"
    r"|(?:让我(?!们)|我来|我要|我会|我将|我先|我去|我再|我就|我现在|我需要|下面我|接下来我?|马上|正在|现在我?|首先)"
    r"[^。！？：:]{0,20}?"
    r"(?:创建|新建|编写|写|读|查看|看|打开|修改|修正|编辑|运行|执行|搜索|检查|列出|更新|删除|重命名"
    r"|移动|修复|添加|实现|分析|测试|处理)",
    re.IGNORECASE,
)
"""What a sentence holds that says what the model does now, with a tool."""
_DOCUMENT = re.compile(
    r"(?m:^[ \t]*(?:#{1,6} |[|>]|//))|[:：]\**\Z|[?？]\Z|\A(?:instead of|earlier|i almost|[#|-])"
    r"|\A(?:it )?printed\b|\bI call\W*\Z|\b(?:this call|tool calls?|answered with|transcripts?"
    r"|write calls|the call for)\b|(?:工具)?调用的"
    r"|\b(?:shows?|says|said|wrote|writes|contains|has \w+ parts|answered|printed)\s*[:：]\s*\n"
    r"|\bthe answer of (?:the|a) \w+ was\Z",
    re.IGNORECASE,
)
"""What a document has, or a line that leads to a text: it needs the announcement of a deed."""
_STEP = re.compile(
    r"\A(?:#{1,6} (?:step|步骤|第)[^\n]*|(?:[^\n]*[.。]\s+)?(?:the )?next (?:file|step|one)\s*[:：]"
    r"|[^\n：:「“]{0,40}(?:创建|新建|修改|更新|读取|查看|删除|运行|执行|搜索)[^。：:\n]{0,40}[:：])\Z",
    re.IGNORECASE,
)
"""A line of its own that names the step that follows."""
_DEFECT = re.compile(r"\bdoes not (?:call|run|execute|use|write|send|output)\b(?!.*[:：]\Z)")
"""What a sentence holds that says what is wrong with a program."""
_MADE_EXAMPLE = re.compile(
    r"\b(?:an?|one|another|some|more|\d+|this|that|these|following) (?:\w+ ){0,2}examples?\W*\Z"
    r"|(?:[一两几]个|看|举|给|来个)[^。，]{0,4}(?:例子|示例)(?:看看)?\W*\Z|\b(?:you|would|could|might|how)\b"
    r"|\b(?:for|as) (?:an )?(?:example|instance)(?!,? (?:I'll|I’ll|I will|let me)\b)"
    r"|给(?:你|您|出)|(?:你|您)可以|不要|\b(?:do not|don't|never)\b"
    r"|(?:format|form|syntax|(?<!修正)(?<!修复)(?<!修改)(?<!调整)(?:格式|语法))\s*[:：]\s*\Z",
    re.IGNORECASE,
)
"""What a sentence holds that makes an example of what it announces."""
_UNDECIDED_WORDS = re.compile(
    r"\b(would|could|might|can) (call|write|type|run|paste)\b|\bmay I\b|\bshould you\b"
    r"|\byourself\b|\bis (it|this) (ok|okay|fine)\b|\bplease\b"
    r"|\byou (can|could|would|should|may|might|must|call|write|type|send|run|will)\b"
    r"|\b(once|when|after|as soon as) you\b|\b(let me know|approval|permission|confirmation)\b"
    r"|\b(won't|will not|cannot|can't|must not|refuse to|avoid|never|rather than|instead of)\b"
    r"|\b(not|n't) (do|call|run|execute|use|write|send|this|that)\b"
    r"|\b(make|made|makes|get|trick) me\b|\b(injection|injected|malicious)\b"
    r"|\b(like (this|so)|this way|as follows)\W*\Z"
    r"|(?<!check )(?<!see )(?<!verify )(?<!test )(?<!determine )(?<!confirm )\bif\b"
    r"(?! (?:needed|necessary|required|missing|it (?:doesn't|does not|isn't|is not)\b))"
    r"|\b(unless|whenever|usually|normally|typically)\b|\A\W*when\b"
    r"|(你|用户)(可以|可|会|要|应该?|能)|(不会|不能|不应|拒绝|不该)|(别|不)(调用|运行|执行)|请(?!稍)|如果"
    r"|这样(写|调用|做)|我(已经?|刚才?|之前|曾)|(调用|运行|执行|用|写|发|输出)[过了]",
    re.IGNORECASE,
)
"""Words of the last sentence before a call that is undecided, past or rejected."""
_PROPOSAL_WORDS = re.compile(
    r"\b(would|could|might) (call|write|use|send|look|be)\b|\b(should|shall) I\b"
    r"|\b(if you (want|like|agree|prefer)|do you want)\b|要不要|是否要|如果你(想|同意|愿意)",
    re.IGNORECASE,
)
"""The same, anywhere in the last paragraph."""
_PAST = (
    r"(?:\w*[^e\W]ed|ran|sent|wrote|made|did|was|had|saw|got|gave|found|thought|said|chose|began"
    r"|never|not|already|previously|earlier|once|just|often|usually|sometimes|always|only"
    r"|would|could|might|may|can|cannot|can't|don't|didn't|won't|do not|have(?! to)|am(?! going)"
    r"|recommend|suggest|propose|think|believe|know|mean|see|understand|guess)\b"
)
_ANNOUNCEMENT_WORDS = re.compile(
    r"\b(?:I'll|I’ll|I will|I am going to|I'm going to|let me|let's|let us|I need to|I want to"
    r"|I have to|I must|I should|I'd like to|I shall|I'm|I am|we need to|we'll)"
    r"\s+(?!not\b|never\b)\w"
    rf"|(?:\A|[;,:]\s|\b(?:so|and|now|next|then|first|therefore|thus|hence),?\s)I (?!{_PAST})\w+"
    r"|\A(?:now|next|first|then|so|okay|ok|sure|alright|great|step \d+)\b\W*\Z"
    r"|\A(?:(?:now|next|first|then|so|okay|ok|sure|alright|great)\W+)*"
    r"(?!(?:following|according|using|nothing|something|anything|everything|missing)\b)"
    r"[a-z]+ing\b.*(?:\b(?:now|the|it|its|again)\b|…|\.\.\.)"
    r"|\A(?:calling|using|running|invoking) (?:the )?`?[a-z]+_[a-z_]+`?(?: tool| function)?\W*\Z"
    r"|\A(?:creating|writing|reading|updating|editing|deleting|renaming|searching|listing|running)"
    r" (?:(?:the|a|new|file|folder) )*[`*]{0,2}[\w./-]{1,200}[`*]{0,2}\s*[:.…]*\Z"
    r"|\Astep \d+\W{1,4}(?:create|write|read|update|edit|delete|rename|search|list|run|open) "
    r"|\AI can (?:help|do)\b(?: you)?(?: with)? (?:this|that)\W*\Z"
    r"|\Ahere (?:we go|goes|it goes|I go)\W*\Z"
    r"|\A(?:now,? |next,? |first,? )?to \w+ [^,]*, I\b"
    r"|让我|我来|我要|我会|我将|我先|我需要|我去|我再|我就|我现在|我可以先|我得|现在|接下来|首先|下面我|马上|正在",
    re.IGNORECASE,
)
"""Words of a sentence that announces what the model does now."""
_PROMISES = re.compile(
    r"\b(?:I'll|I’ll|I will|I am going to|I'm going to|I’m going to|let me|let's|let us)"
    r"\s+(?:now\s+|first\s+|then\s+|quickly\s+|(?:start|begin|proceed)\s+(?:by|with|to)\s+)*"
    r"(?:creat|writ|read|open|edit|modif|chang|run|execut|search|look at|look in|look for|check"
    r"|list|updat|delet|remov|renam|mov|fix|mend|add|mak|find|inspect|examin|implement|explor|analy"
    r"|append|replac|insert|install|test|call|us(?:e|ing)\b)"
    r"|(?:让我|我来|我将|我会|我先|我现在|接下来|现在)(?:我|先|来|去|会|将|要|就|开始|为你|为您|使用|用)*"
    r"(?:创建|新建|编写|写入?|读取?|查看|看看|打开|修改|编辑|运行|执行|搜索|检查|列出|更新|删除|重命名"
    r"|移动|修复|添加|实现|分析|调用|测试)",
    re.IGNORECASE,
)
"""What a sentence holds that says what the model is going to do with its tools."""
_EXPLANATION_WORDS = re.compile(
    r"\b(?:I'll|I’ll|I will|I'm|I am|me|us|I|to|let's|almost)"
    r"\s+(?:\w+ly\s+|just\s+|now\s+|also\s+|first\s+)*"
    r"(?:show|explain|demonstrate|illustrate|describe|quote|cite|repeat|paste|print|tell|present"
    r"|outline|suggest|propose|recommend|document|translate|reproduce|mention|reply"
    r"|answer(?! (?:this|that|it|(?:the|your) question),? I\b)"
    r"|give (?:you|an?)|walk|remind|imagine|suppose|assume|recall|include|draft|refuse|decline"
    r"|showing|quoting|explaining|describing|write (?:down|out)|put (?:it|this|that)|phrase|spell"
    r"|render|sketch|note|point out|summari[sz]e|almost|ran)\b|\b(?:for|to) you to\b"
    r"|展示|解释|说明|演示|引用|复述|告诉|介绍",
    re.IGNORECASE,
)
"""Words of a sentence that announces text, not an action."""
_TEXT_WORDS = re.compile(
    r"\b(?:this|these|that|those|following|follows|below|above|here|call(?:s|ed|ing)?|tools?"
    r"|functions?|models?|assistants?|agents?|format|syntax|json|xml|yaml|python|markdown|example"
    r"|outputs?|prints?|printed|logs?|logged|logging|repl(?:y|ies|ied)|answer(?:s|ed)?|respon\w+"
    r"|sa(?:ys?|id)|read[si]?|writes?|wrote|written|texts?|messages?|prompts?|requests?|content"
    r"|contain\w*|quot\w+|snippets?|blocks?|templates?|schema|usage|instructions?|invo\w+|emit\w*"
    r"|generat\w+|return\w*|transcript|history|you|your|user|person|would|could|might|never|not to"
    r"|names?|arguments?|parameters?|parts?|tags?|keys?|values?|protocol|grammar|wire|server|ends?"
    r"|done|created|completed|finished|executed|successful(?:ly)?|ran|has been|have been"
    r"|I (?:used|sent|tried|made|did|issued|wrote|ran))\b|[\"“”「『`:：]"
    r"|调用|工具|函数|模型|助手|输出|日志|回复|回答|写|内容|文本|消息|提示|用户|如下|以下|上面|这|已|[过了]",
    re.IGNORECASE,
)
"""Words that no plain remark on the work holds: it may speak of the text that follows."""
_REMARK = re.compile(r"(?:[a-z]{2}|[\u4e00-\u9fff]).*[.!。！…]\Z", re.IGNORECASE | re.DOTALL)
_SPEAKER = re.compile(
    r"(?mi)^[ \t>*\[-]{0,8}(?:user|human|assistant|system|model|ai|bot|tool|agent|observation"
    r"|用户|助手|模型|系统)[*\] \t]{0,4}[:：]"
)
"""The name of who speaks, at the start of a line: a transcript."""
_OWN_LABEL = re.compile(r"\A\**(?:assistant|助手)\**\s*[:：]\**\s+(?!\Z)", re.IGNORECASE)
"""What a model calls itself at the start of its reply."""
_LABEL = re.compile(
    r"(?:\A|\n)[ \t]*(?:#{1,6}[ \t]+)?[*_`]{0,3}(?:(?:the |a |my )?(?:tool|function)[ _]?"
    r"(?:call|use|usage|invocation|request)(?:s|ing)?|(?:next )?action|tool|call"
    r"|(?:calling|using|invoking|executing|running|making) (?:the |a )?(?:tool|function)(?: call)?"
    r"|(?:工具|函数)调用|(?:调用|使用)(?:工具|函数))[*_`]{0,3}[ \t]*"
    r"(?:[:：.…]|\.\.\.)?[*_`]{0,3}\s*\Z",
    re.IGNORECASE,
)
"""Label right above a call, in a line of its own."""
_TAG_LINE = re.compile(r"(?m)^[ \t]*<(?P<name>[a-z][\w-]*)(?:\s[^<>\n]*)?>")
"""A tag that begins a line: while it is open, what follows is somebody's text."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d+[.)])(?:[ \t]|\Z)")
_LISTED = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\d+[.)]|#+|\|)[ \t]")
_SENTENCE_END = re.compile(r"(?<=[。！？])|(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)\s+|\n")


def is_example(before: str, after: str) -> bool:
    """Return whether the text around a call presents it as an example."""
    return bool(
        _gives_example(_paragraph(without_thinking(before))) or _EXAMPLE_WORDS.search(after)
    )


def _gives_example(text: str) -> bool:
    """Return whether *text* presents an example; a deed done to one, like any other, is none."""
    if not _EXAMPLE_WORDS.search(text):
        return False
    text = _DEFECT.sub("", text)
    sentences = [one.strip() for one in _SENTENCE_END.split(text) if one and one.strip()]
    if not sentences or _SPOKEN_OF.search(text) or not _is_deed(sentences[-1]):
        return True
    return any(_EXAMPLE_WORDS.search(one) and not _is_deed(one) for one in sentences)


def _is_deed(sentence: str) -> bool:
    """Return whether *sentence* says what the model does now, and means no text by it."""
    return bool(_DEED.search(sentence)) and not (
        _MADE_EXAMPLE.search(sentence)
        or _EXPLANATION_WORDS.search(sentence)
        or _OFFERED_WORDS.search(sentence)
    )


def is_intended(before: str, gap: str, after: str) -> bool:
    """Return whether the text *before* and *after* leaves no doubt that a call is meant.

    *gap* is the white space right before the call.
    """
    text = without_thinking(before)
    is_code = gap.rpartition("\n")[2].startswith(("    ", "\t"))
    is_item = _ITEM.match(text[text.rfind("\n") + 1 :]) and "\n\n" not in gap
    return not (is_code or is_item) and _leads_to_call(text) and _only_announces(after)


_OFFERED_WORDS = re.compile(
    r"\b(?:would|could|might) (?:call|write|type|run|paste|use|send|look)\b|\bmay I\b"
    r"|\b(?:I|we|one) can (?:call|write|type|send)\b"
    r"|\b(?:should|shall) (?:you|I)\b|\byou(?:'d| can| could| would| should| may| might| must)\b"
    r"|\b(?:once|when|after|as soon as|if|unless|until|would) you "
    r"|\b(?:approval|permission|injection|injected|malicious)\b"
    r"|(?:\b(?:won't|will not|must not|refuse to|instead of|rather than|not going to)"
    r"|(?:\A\W*|\bI |[;,:] )(?:do not|don't|never))\b(?: \w+){0,2}"
    r" (?:call|run|execut|us|writ|send|do|issu|mak|perform|that|this)"
    r"|(你|您)(可以|可|会|要|应该?|能|想)|用户(可以|应该?|能)|(不会|不能|不应|拒绝|不该|不要|别)(?:再|去)?"
    r"(?:调用|运行|执行|写|用|做)|如果(?:你|您|用户)",
    re.IGNORECASE,
)
"""Words of the last sentence before a call that is offered or rejected."""
_SHOWING_WORDS = re.compile(
    r"\b(?:show|explain|demonstrat|illustrat|describ|quot|cit|repeat|document|present"
    r"|write (?:down|out))\w*\b.{0,40}\b(?:you|how|what|calls?|blocks?|formats?|tools?|again)\b"
    r"|\b(?:this|that|here|it) (?:is|was) (?:what|how)\b"
    r"|(?:展示|解释|说明|演示|引用|复述|告诉).{0,20}(?:调用|格式|工具|如何|怎么|怎样|用法)",
    re.IGNORECASE,
)
"""Words of a sentence that announces a text about calls, not a call."""
_QUOTING_WORDS = re.compile(
    r"\b(?:contain\w*|sa(?:ys?|id)|reads|show(?:s|n)|writes|wrote|written|prints?|printed|logs?"
    r"|logged|repl(?:y|ies|ied)|quot\w+|documentation|docs?|readme|manual|transcript|history"
    r"|template|snippet|instructions?|messages?|prompts?|outputs?|returned|answered|like this"
    r"|like so|this way|as follows|for you|earlier|previously|last time)\b"
    r"|\bI (?:\w+ )?(?:ran|called|used|sent|wrote|issued|made|executed|tried)\b"
    r"|我(已经?|刚才|之前|曾)|(调用|运行|执行|用|写|发|输出)[过了]"
    r"|(?:文件|文档|日志|消息|提示|输出|内容|历史).{0,6}(?:是|为|说|里|中|上)|写着|显示|如下|这样|原文",
    re.IGNORECASE,
)
"""Words of a sentence with a colon that introduces words of somebody else, or of before."""
_ASKING_WORDS = re.compile(
    r"\b(?:should|shall) I\b|\bmay I\b|\bdo you (?:want|agree|prefer)\b|\bwould you like\b"
    r"|\bis (?:this|that|it) ok(?:ay)?\b|\bif you (?:agree|approve|confirm|want|prefer)"
    r"|\b(?:I (?:did not|do not|have not|will not|didn't|don't|haven't|won't)"
    r"|(?:it|this|that) (?:was|is) not) (?:run|call|sen[dt]|execut|meant)"
    r"|要不要|是否要|可以吗|行吗|好吗|我没有(?:运行|执行|调用)|不要(?:运行|执行|调用)",
    re.IGNORECASE,
)
"""Words around a call that only propose it, or say that it is none."""


def is_shown(before: str, gap: str, after: str) -> bool:
    """Return whether the words around a call in the agreed form show it as a text.

    Of a model that was told to call in this form it is meant where no word says otherwise.
    """
    text = without_thinking(before)
    is_code = gap.rpartition("\n")[2].startswith(("    ", "\t"))
    is_item = "\n" not in gap and _ITEM.fullmatch(text[text.rfind("\n") + 1 :] + gap) is not None
    if is_code or is_item or is_example(before, after) or _ASKING_WORDS.search(after):
        return True
    if _SPEAKER.search(_OWN_LABEL.sub("", text, count=1)) or _is_inside_block(text):
        return True
    last = _last_sentence(text)
    if _OFFERED_WORDS.search(last) or _ASKING_WORDS.search(_paragraph(text)):
        return True
    if _DOCUMENT.search(text) and not (_leads_to_call(text) or _names_step(text)):
        return True
    if _ANNOUNCEMENT_WORDS.search(last):
        return _SHOWING_WORDS.search(last) is not None
    is_introduced = last.endswith((":", "：")) and _QUOTING_WORDS.search(last) is not None
    return is_introduced or _SHOWING_WORDS.search(_paragraph(text)) is not None


def _names_step(text: str) -> bool:
    return bool(_STEP.search(text)) and not (_SPOKEN_OF.search(text) or _QUOTING_WORDS.search(text))


def announces(before: str) -> bool:
    """Return whether the sentence that *before* ends with says what the model does now."""
    return _is_announced(_last_sentence(without_thinking(before)))


def promises(said: str) -> bool:
    """Return whether *said* ends by telling what the model is going to do, and offers no choice."""
    paragraph = _paragraph(without_thinking(said))[-_LONGEST_SENTENCE:]
    if paragraph.rstrip().endswith(("?", "？")) or _EXAMPLE_WORDS.search(paragraph):
        return False
    sentences = [one for one in _SENTENCE_END.split(paragraph) if one]
    is_open = any(_UNDECIDED_WORDS.search(one) or _PROPOSAL_WORDS.search(one) for one in sentences)
    return not is_open and any(_PROMISES.search(one) for one in sentences)


def without_thinking(text: str) -> str:
    """Return *text* without the thinking that it begins with, or that ends it."""
    while match := _THINKING_TAG.match(text):
        text = text[match.end() :]
    if text.endswith("<|end|>") and (behind := _THOUGHT_BEHIND.search(text)):
        text = text[: behind.start()]
    return text.strip()


def _leads_to_call(text: str) -> bool:
    text = _OWN_LABEL.sub("", text, count=1)
    if label := _LABEL.search(text):  # of the call alone, or of a deed that was announced
        text = text[: label.start()].rstrip()
        return not text or (_leads_to_call(text) and _is_announced(_last_sentence(text)))
    if not text:
        return True
    if _gives_example(text) or _SPEAKER.search(text) or _is_inside_block(text):
        return False
    if _is_introduced(text):
        return False
    paragraph = _paragraph(text)[-_LONGEST_SENTENCE:]
    last = _last_sentence(text)
    if _UNDECIDED_WORDS.search(last) or _PROPOSAL_WORDS.search(paragraph):
        return False
    return _is_announced(last) or _is_remark(text, paragraph)


def _is_introduced(text: str) -> bool:
    """Return whether a line right above the last one of *text* presents that as a text."""
    *above, _ = [line for line in text.splitlines() if line.strip()]
    count = len(_paragraph(text).splitlines())
    return any(_presents(line.strip(" \t*_")) for line in above[-count:])


def _presents(line: str) -> bool:
    if _LISTED.match(line + " ") or _OWN_WORDS.fullmatch(line):
        return False
    if _UNDECIDED_WORDS.search(line) or _PROPOSAL_WORDS.search(line):
        return line.endswith((":", "：", "?", "？"))
    return line.endswith((":", "：")) and not _is_announced(line)


_OWN_WORDS = re.compile(r"(?:thoughts?|plan|reasoning|思考)[:：]", re.IGNORECASE)
"""What a model writes above its own words."""


def _is_announced(sentence: str) -> bool:
    return bool(_ANNOUNCEMENT_WORDS.search(sentence)) and not _EXPLANATION_WORDS.search(sentence)


def _is_remark(text: str, paragraph: str) -> bool:
    """Return whether *text* ends with remarks on the work alone, and is no documentation."""
    if _LISTED.search(text) or _TEXT_WORDS.search(paragraph):
        return False
    return _REMARK.search(paragraph) is not None


def _only_announces(after: str) -> bool:
    """Return whether the text after a call only announces what the model does next."""
    sentences = [
        sentence for sentence in _SENTENCE_END.split(after.strip()) if sentence and sentence.strip()
    ]
    return all(
        _is_announced(sentence) and not _UNDECIDED_WORDS.search(sentence) for sentence in sentences
    )


def _is_inside_block(text: str) -> bool:
    """Return whether *text* ends within a tag, a comment or a text in three quotes."""
    open_tags = {match["name"]: match.end() for match in _TAG_LINE.finditer(text)}
    is_open = any(text.find(f"</{name}", start) < 0 for name, start in open_tags.items())
    is_comment = text.rfind("<!--") > text.rfind("-->")
    return is_open or is_comment or any(text.count(quotes) % 2 for quotes in ('"' * 3, "'" * 3))


def _last_sentence(text: str) -> str:
    """Return the last sentence of *text*, without what a list or emphasis puts around it."""
    sentences = _SENTENCE_END.split(_paragraph(text)[-_LONGEST_SENTENCE:])
    last = next((sentence for sentence in reversed(sentences) if sentence and sentence.strip()), "")
    if last.lstrip().startswith("#"):
        return ""
    return re.sub(
        r"\A(?:\s*(?:[-*+•]|\d+[.)])\s+)?(?:(?:Thought|Plan|思考)\s*[:：])?", "", last
    ).strip(" \t*_")


def _paragraph(text: str) -> str:
    """Return the last paragraph of *text*."""
    return text.rstrip().rsplit("\n\n", 1)[-1]
