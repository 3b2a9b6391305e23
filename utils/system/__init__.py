"""The system: files, locks, processes, signals and streams.

- atomic_write      Writing files of our own so that a crash leaves the old or the new content,
                    never a half.
- child             Running a small program of ours or of the system, with a limit of time.
- confinement       Confinement of a process that takes a hostile file apart: the file may at most
                    end it.
- file_lock         Release of a lock that processes share by way of a file (`flock`).
- installation      Where Onefold was put: a checkout, or a package that an installer keeps; and of
                    which commit.
- interrupts        Signals that ask to end: the first one stops what runs in order, a second one
                    leaves.
- own_command       The command that starts this very program, and others about it, to be shown to
                    the person.
- process_identity  Identity of a process, which tells it from a later one with the same number.
- programs          Finding programs of the system.
- rotated_lines     A file of lines that several processes append to and that never grows beyond a
                    size.
- shared_file       Small file of ours that people and several processes may change at the same
                    time.
- sockets           Shutdown of a connection that another thread uses.
- streams           The three standard streams: repaired at the start, with an error of its own for
                    a lost one.
- unauthenticated   Connections without a credential yet: few are kept, and the oldest is cut first.
"""

EXPORTS = {
    "atomic_write": ["sync_folder", "write_atomically"],
    "child": ["ChildResult", "OnCancel", "TimedOut", "run_program"],
    "confinement": ["confine"],
    "file_lock": ["unlock_and_close"],
    "installation": ["commit_of", "is_installed", "platform_data_folder", "unpacked_archives"],
    "interrupts": ["raising_keyboard_interrupt", "stopping_on_signals", "wakeup_fd_released"],
    "own_command": ["install_command", "own_command", "own_name", "own_words"],
    "process_identity": ["is_running", "start_ticks"],
    "programs": ["search_path_outside", "system_program"],
    "rotated_lines": ["all_files", "LineFollower", "append_line"],
    "shared_file": ["SharedFile", "Stamp"],
    "sockets": ["shut_down"],
    "streams": ["OutputLost", "print_error", "repair_streams"],
    "unauthenticated": ["UnauthenticatedConnections"],
}
