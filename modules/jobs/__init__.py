"""Jobs: programs that run on in the background after the call that started them.

- feature   Jobs of a session: the tool, the command, and who is told when one ends or opens a port.
- job       One job: its process, its output since last asked, its ports and its end.
- job_text  Words about a job, for the model and for people.
"""

EXPORTS = {
    "job_text": ["count_for_person"],
    "feature": ["Jobs"],
}
