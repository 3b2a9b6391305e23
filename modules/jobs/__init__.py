"""Jobs: programs that run on in the background after the call that started them.

- job   One job: its process, its output since last asked, its ports and its end.
- jobs  Jobs of a session: the tool, the command, and who is told when one ends or opens a port.
"""
