"""Jobs: programs that run on in the background after the call that started them.

- feature          Jobs of a session: the tool, the command, and who is told when one ends or opens
                   a port.
- job              One job: its process, its output since last asked, its ports and its end.
- job_news         News of jobs: what the model and the person are still to be told of them.
- job_terminal     The terminal of a job: its screen brought up to what was written, and keys for
                   it.
- job_text         Words about a job, for the model and for people.
- keys             Keys typed at a terminal, from the text that stands for them: "yes<Enter>",
                   "<C-c>", "<Up>".
- terminal_screen  The screen of a program with a terminal: what it drew, as text, whatever it
                   writes.
"""

EXPORTS = {
    "job_text": ["count_for_person"],
    "feature": ["Jobs"],
    "job": ["BackgroundJob", "JobChange"],
}
