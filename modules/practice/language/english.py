"""The requests that the practice model understands in English; the first rule that fits counts."""

from __future__ import annotations

from modules.practice.language.grammar import SHELL_PROGRAMS, Rule

POLITE = (
    r"(?:(?:please|pls|kindly|(?:can|could|would|will) you|i(?: want you|'d like you| would like"
    r" you) to|now|ok(?:ay)?|hey|so|just|first|let's|let us|also|and|then)[\s,]~){1,6}"
)
AFTERWARDS = (
    r"(?:[,;.]?\s{1,9}(?:and(?: |,)~)?(?:then|after that|afterwards|next|finally),? "
    r"|[,;]?\s{1,9}and |;\s{1,9}|\.\s{1,9}|\n\s{0,9}|,\s{1,9})"
)
SUFFIX = r"(?:,?~(?:please|for me|now|thanks|thank you|again))?[\s.!?…]{0,9}"
IT = frozenset({"it", "this", "that", "file", "script", "program"})

_FOLDER = r"(?:folder|directory|dir)"
_HERE = (
    r"(?:(?:the |this |my )?(?:current |whole |project )?"
    r"(?:folder|directory|dir|project|repo|repository|code ?base|workspace)|here)"
)
_NOUN = r"(?:file|script|program|module|page|document)"
_MAKE = (
    r"(?:make|create|write|generate|add|new|touch)(?: me)?(?: an?| the)?"
    r"(?: (?:new|small|little|simple|short|tiny|empty|python|text|shell|bash|markdown|html)){0,3}"
    rf"(?P<noun> {_NOUN})?(?P<named> (?:called|named))? <path>"
)
_CONTENT = r"(?:contents?|text|code|lines?|words?|body)"
_WITH = (
    r",?(?: (?:with|containing|having|that contains|which contains|that has))"
    rf"(?: (?:the|this)(?: following)? {_CONTENT}(?: of)?:?| {_CONTENT}:| {_CONTENT}(?= \0)"
    r"| contents?|:| the following:?)?(?: |~(?=\0))"
)
_TO = r"(?:to the end of|at the end of|to the bottom of|to|into|in)"
_THE_FILE = r"(?: the)?(?: file)?"

RULES: tuple[Rule, ...] = (
    Rule("help", r"help|commands|what (?:can|do) you (?:do|understand|know)"),
    Rule("help", r"who are you|what are you|how do (?:i|you) (?:use this|work|do this)"),
    Rule("greet", r"(?:hi|hello|hey|good (?:morning|day|afternoon|evening))(?: there| onefold)?"),
    Rule(
        "thank",
        r"(?:(?:ok(?:ay)?|great|perfect|nice),? )?(?:(?:many )?thanks|thank you)"
        r"(?: a lot| (?:so|very) much| again)?|well done|(?:great|good|nice) (?:job|work)|great"
        r"|perfect|ok(?:ay)?|got it|(?:good)?bye|good night|see you(?: later| tomorrow)?",
    ),
    Rule("undo", r"(?:undo|revert|take back|roll ?back)(?: .{0,99})?|(?:take|roll) \w{1,9} back"),
    Rule(
        "describe",
        r"(?:describe|explain|summari[sz]e|explore|inspect|list|look at|look around(?: in)?"
        r"|show(?: me)?|(?:tell me|what is this) about|(?:give me )?an? (?:overview|summary) of)"
        rf" (?:what(?:'s| is) in )?{_HERE}",
    ),
    Rule(
        "describe",
        rf"what(?:'s| is)(?: (?:in|inside))? {_HERE}(?: about)?|look around|ls|tree"
        rf"|what does {_HERE} (?:do|contain)",
    ),
    Rule("describe", r"what (?:files )?(?:is|are|do we have) (?:in )?(?:here|there|this)"),
    Rule("describe", rf"(?:list|show(?: me)?)(?: all)?(?: of)?(?: the)? files(?: in {_HERE})?"),
    Rule("describe", rf"what (?:files|is there) (?:are )?(?:here|there|in {_HERE})"),
    Rule("describe", rf"(?:describe|list|show|what(?:'s| is) in)(?: the)? {_FOLDER} <path>"),
    Rule("describe", rf"(?:list|show)(?: all)?(?: the)? files in <path>(?: {_FOLDER})?"),
    Rule(
        "count",
        r"(?:count|how many)(?: the)? (?P<unit>lines|words|characters|letters)(?: and words)?"
        rf"(?: (?:of|in|are in|are there in|does)){_THE_FILE} <path>(?: have| contain)?",
    ),
    Rule("count", r"(?:word count(?: of)?|wc) <path>"),
    Rule(
        "make folder",
        rf"mkdir(?: -p)? <path>|(?:make|create|add)(?: me)?(?: an?| the)?"
        rf"(?: new| empty){{0,2}} {_FOLDER}(?: (?:called|named))? <new>",
    ),
    Rule(
        "note",
        r"(?:add|put|write|attach|make|leave) (?:an? |the )?(?:note|annotation|remark)"
        rf" (?:on|to|for|about){_THE_FILE} <path>(?::| (?:saying|that says|with):?)~<text>",
        True,
    ),
    Rule(
        "note",
        rf"(?:note|annotate)(?: (?:on|for|about))?{_THE_FILE} <path>"
        r"(?::| (?:with|saying):?| (?=\0))~<text>",
        True,
    ),
    Rule(
        "drop note",
        rf"(?:remove|delete|drop) (?:the |my )?note (?:on|of|from|for){_THE_FILE} <path>",
    ),
    Rule(
        "append",
        r"(?:append|add)(?: (?:the|this|an?))?(?: new)?"
        rf"(?: (?:line|text|word|words|lines):?)? <text> {_TO}(?: the)?(?: file)? <path>",
    ),
    Rule("append", r"(?:append|add) (?:to|at the end of)(?: the)?(?: file)? <path>:?~<text>", True),
    Rule(
        "make printing",
        rf"{_MAKE},? (?:that|which|to)(?: just| only)?"
        r" (?:prints?|says?|outputs?|displays?|shows?|echo(?:es)?):? <text>",
        True,
    ),
    Rule("make", rf"{_MAKE}{_WITH}<text>", True),
    Rule("make", rf"{_MAKE}:~<text>", True),
    Rule("make", rf"{_MAKE} (?=\0)<text>", True),
    Rule(
        "make",
        rf"(?:write|put|save) <text> (?:to|into|in)(?: an?| the)?(?: new)?(?P<noun> {_NOUN})?"
        r"(?P<named> (?:called|named))? <path>",
    ),
    Rule("make", _MAKE),
    Rule("overwrite", rf"(?:overwrite|rewrite){_THE_FILE} <path>{_WITH}<text>", True),
    Rule(
        "overwrite",
        rf"replace (?:the |all )?(?:whole )?contents? of{_THE_FILE} <path> (?:with|by):?"
        r" <text>",
        True,
    ),
    Rule(
        "replace",
        rf"(?:replace|change|substitute|correct)(?: the)?(?: (?:text|word|line))? <old>"
        rf" (?:with|by|to|into) <text> in{_THE_FILE} <path>",
    ),
    Rule(
        "replace",
        rf"in{_THE_FILE} <path>,? (?:replace|change|substitute|correct) <old>"
        r" (?:with|by|to|into) <text>",
        True,
    ),
    Rule(
        "cut out",
        r"(?:remove|delete|cut)(?: the)?(?: (?:text|word|line))? <text>"
        rf" (?:from|out of){_THE_FILE} <path>",
    ),
    Rule(
        "run command",
        r"(?:run|execute)(?: the| this)?(?: (?:shell|terminal|bash))? command:? <text>",
    ),
    Rule(
        "run python",
        r"(?:run|execute)(?: the| this| some)?(?: following)? python(?: code)?:? <text>",
    ),
    Rule("run python", r"python(?: code)?(?::~| (?=\0))<text>"),
    Rule("run file", rf"(?:run|execute|start|launch)(?: the)?(?: {_NOUN})? <path>"),
    Rule("run file", r"(?:run|execute)"),
    Rule(
        "run file",
        r"(?:run|execute) (?P<path>[^\s\0]{1,200}\.(?:py|sh|js))"
        r"(?: with(?: the)?(?: (?:arguments?|args))?:?)? <text>",
    ),
    Rule("run command", r"(?:run|execute) (?=\0)<text>"),
    Rule("run command", rf"(?:run|execute) (?P<text>(?:{SHELL_PROGRAMS})(?: .+)?)"),
    Rule(
        "compute",
        r"(?:(?:calculate|compute|evaluate|what(?:'s| is)|how much is|eval)(?: the"
        r" (?:result|value) of)? )?<text>",
    ),
    Rule(
        "find files",
        r"(?:find|list|show|search for|locate)(?: me)?(?: all)?(?: the)?(?: files?)?"
        r"(?: (?:named|called|matching|like))? <glob>(?: files)?",
    ),
    Rule(
        "find files",
        r"(?:find|search for|locate|where(?:'s| is| are))(?: the| all)?"
        r" files?(?: (?:named|called))? <path>",
    ),
    Rule(
        "find files",
        r"(?:find|list|show)(?: me)?(?: all)?(?: the)? (?P<type>python|markdown|text"
        r"|html|javascript|json|css|shell) (?:files|scripts)",
    ),
    Rule(
        "find files",
        r"(?:find|locate|where(?:'s| is))(?: the)? (?P<path>[\w./-]{1,200}\.[a-z]\w{0,5})",
    ),
    Rule(
        "search",
        r"(?:find|search(?: for)?|grep(?: for)?|look for)(?: the)?(?: (?:text|word|string))?"
        r" <text> (?:in|inside|within)(?: the)?(?: (?:file|folder))?"
        r" (?!the |this |all |my |files$)<path>",
    ),
    Rule(
        "search",
        r"(?:find|search(?: for)?|grep(?: for)?|look for|locate)(?! the web| the internet"
        rf"| online)(?: the)?(?: (?:text|word|string))? <text>(?: in (?:{_HERE}"
        r"|(?:all |the |all the )?files))",
    ),
    Rule(
        "search",
        r"(?:find|search(?: for)?|grep(?: for)?|look for|locate)(?! the web| the internet"
        r"| online)(?: the)?(?: (?:text|word|string))? <text>",
    ),
    Rule(
        "search",
        r"where (?:is|are|does)(?: the)?(?: (?:text|word|string))? <text>"
        r"(?: (?:used|defined|mentioned|occur|appear|written))",
    ),
    Rule("search", r"where (?:is|are|does)(?: the)?(?: (?:text|word|string))? <text>"),
    Rule("search", r"(?:in )?(?:which|what) files? (?:contains?|mentions?|uses?|has|have) <text>"),
    Rule(
        "rename",
        r"(?:rename|(?P<move>move|mv))(?: the)?(?: (?:file|folder|directory))? <path>"
        r"(?: (?:to|(?P<inside>into)|as)|~->|~→)(?: the)?(?P<into> (?:folder|directory))? <new>",
    ),
    Rule("rename", r"mv <path> <new>"),
    Rule(
        "delete folder",
        rf"(?:delete|remove)(?: the)?(?: whole| empty)? {_FOLDER} <path>(?P<all>,?"
        r" (?:and|with) (?:everything|all(?: files)?|its contents?)(?: (?:in|inside)"
        r" it)?| recursively)?|rm -(?P<recursive>rf?|fr) <new>",
    ),
    Rule(
        "delete folder",
        r"(?:delete|remove)(?: the)? (?P<path>[^\s\0]{1,399}/)(?P<all>,? (?:and|with)"
        r" (?:everything|all|its contents?)(?: (?:in|inside) it)?)?|rmdir <new>",
    ),
    Rule(
        "delete",
        r"(?:delete|remove|rm|erase)(?: the)?(?: file)?"
        r" (?!(?:everything|all|anything|something|files)$)<path>",
    ),
    Rule("unfocus", rf"(?:unfocus|stop focus(?:s?ing)? on|take out of focus){_THE_FILE} <path>"),
    Rule("unfocus", r"take <path> out of focus"),
    Rule("focus", rf"(?:focus(?: on)?|keep an eye on){_THE_FILE} <path>"),
    Rule(
        "remember",
        r"(?:remember|memori[sz]e|keep in mind|do(?:n't| not) forget)(?: that)?:?"
        r" <text>",
        True,
    ),
    Rule(
        "plan",
        r"(?:make (?:me )?)?(?:an? |the )?(?:plan|to-?dos?(?: list)?)(?: (?:for|of|with))?:?"
        r" <text>",
    ),
    Rule(
        "show",
        r"(?:show|read|cat|open|display|view|look at|see)(?: me)?"
        r" lines? (?P<first>[0-9]{1,9})(?:~(?:-|to|until|through)~(?P<last>[0-9]{1,9}))?"
        rf" (?:of|in|from){_THE_FILE} <path>",
    ),
    Rule(
        "show",
        r"(?:show|read|cat|open|display|view|look at|see|describe|explain|summari[sz]e)"
        rf"(?: me)?(?: the)?(?: (?:whole|contents? of)){{0,2}}{_THE_FILE} <path>(?: file)?",
    ),
    Rule("show", rf"what(?:'s| is) in{_THE_FILE} <path>|what does <new> (?:contain|say)"),
)
