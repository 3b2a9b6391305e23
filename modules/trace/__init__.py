"""The trace (`--trace FILE`): turns, steps, calls, commands and helpers as OpenTelemetry spans.

- content       What was said, for a trace that is to have it: messages and calls in the form of the
                GenAI conventions, as the model had them, with names in the place of secrets.
- feature       What hears of all that happens, and writes each span that is over.
- helper_spans  Spans of helpers at work, each below that of the call that it is.
- span          A span, and its line of OTLP JSON.
"""

EXPORTS = {"feature": ["Trace", "parts_in"]}
