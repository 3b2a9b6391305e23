"""The board of a project: everything that works in it, in every process, and what that does.

Nothing is written for it. What a session does is told by its records on disk, as they are before
anybody sees them; who has it by its claim. What works inside of a session (a race, a helper) is a
`WorkSource`, which the board asks: to show more kinds of work, give it another one. A task that is
started from it works in a session and a process of its own, as `-p` does. What works elsewhere is
answered and stopped by a socket, which a session has in the data folder while a turn of it runs.

- board_card      The board as a card: a row for all that works, each with what it does, asks and
                  costs.
- feature         `/agents`: lists what works in the project, starts a task, answers what asks, and
                  stops.
- held_session    A session that works in this process, as other processes of the person reach it.
- holder_link     The way to the process in which a session works: what it asks, its answer, and a
                  stop.
- question_card   A question of another session as a board shows it, and the reply that a line to it
                  means.
- session_socket  The socket of a session that works: other processes of the person ask and answer
                  by it.
- session_work    What a session does, read off its records.
- socket_folder   The folder of the sockets by which the sessions that work are reached from other
                  processes.
- started_tasks   Tasks that were started from the board: each in a process and a session of its
                  own.
- work            Work that runs, as the board shows it, and what tells of it.
"""

EXPORTS = {
    "feature": ["Agents", "BegunTask"],
    "session_work": ["doing_in"],
    "work": ["Work", "WorkState", "session_of"],
}
