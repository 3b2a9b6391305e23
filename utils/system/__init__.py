"""The system: files, locks, processes, signals and streams.

- atomic_write      Writing files of our own so that a crash leaves the old or the new content,
                    never a half.
- child             Asking a small program of ours or of the system one question, with a limit on
                    the wait.
- file_lock         Giving back a lock that processes share by way of a file (`flock`).
- interrupts        Signals that ask to end: the first one stops what runs in order, a second one
                    leaves.
- own_command       The command that starts this very program, to be shown to the person.
- process_identity  Telling one process from a later one that happens to have the same number.
- programs          Finding programs of the system.
- rotated_lines     A file of lines that several processes append to and that never grows beyond a
                    size.
- shared_file       A small file of ours that people and several processes may change at the same
                    time.
- sockets           Ending a connection that somebody else is busy with.
- streams           The three standard streams: made whole at the start, and a loss of one told from
                    other errors.
"""
