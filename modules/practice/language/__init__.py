"""Understanding requests, in English and Chinese.

- arithmetic  Arithmetic as people write it, translated to Python.
- chinese     The requests that the practice model understands in Chinese; the first rule that fits
              counts.
- english     The requests that the practice model understands in English; the first rule that fits
              counts.
- examples    Examples of requests that the practice model understands; a test tries each one.
- grammar     Grammar of rules for requests: how one is written, and how it is matched.
- quoting     Extracts quoted texts, so that their words are not taken for words of a request.
- requests    Parser of a message into its requests, in their order.
- sense       Plausibility of a parsed request: a rule sees the words, this checks what they name.
"""

EXPORTS = {
    "arithmetic": ["to_python"],
    "examples": ["help_text"],
    "grammar": ["RequestKind"],
    "requests": ["Request", "language_of", "parse_requests"],
}
