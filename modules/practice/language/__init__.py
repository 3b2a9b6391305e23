"""Understanding requests, in English and Chinese.

- chinese   The requests that the practice model understands in Chinese; the first rule that fits
            counts.
- english   The requests that the practice model understands in English; the first rule that fits
            counts.
- examples  What the practice model understands, by examples that a test tries out one by one.
- grammar   How a rule for requests is written, and how it is matched.
- quoting   Sets what stands in quotes aside, so that its words are not taken for words of a
            request.
- requests  Understanding a message: which requests it holds, in which order.
- sense     Whether what a rule found can be meant: a rule sees the words, this looks at what they
            name.
- sums      Sums as people write them, as Python says them.
"""
