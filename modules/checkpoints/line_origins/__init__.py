"""Where the lines of a file come from: folded, when asked, from the states around every call.

- after_kill    What others did in the folder after a kill, before anybody looked, and not the call
                it ended.
- call_edits    The edits of calls: exactly which lines of a text each left, where lines read the
                same too.
- file_states   The states of one file in their order, whatever it was called, and who made each.
- fold          The fold: which of these states each line of the last one came with.
- line_alignment
                The alignment of two texts: which lines of the new one stood in the old one already.
- origins       Origins: who wrote a line, and in which call.
- person_writings
                The record of what the person writes in Onefold, beside the calls.
- timeline      The timeline of a project: the states of its folder in their order, and who made
                each.
- tracing       Tracing: the origins of a file's lines as it is on the disk now.
"""

EXPORTS = {"after_kill": ["LaterChange", "others_after_kill"], "timeline": ["Timeline"]}
