"""Helpers: a turn inside a call of `delegate`.

A helper is a terminal as any other: `HelperTerminals` makes it of the features of the project, and
`run_turn` runs its one turn. There is no second loop. What is its own is its history.

How its events travel: the call is a generator, and what the helper's turn yields it yields on, in
`HelperEvent`s that name the call as their *parent*; `nested_events` leaves out what streams. A
question is no such event but asked as any other, about the call; the reply goes back down the same
way. Several read-only helpers of one reply run in threads whose events make one row
(`core.loop.calls_at_once`).

How they are kept: `HelperStore` is the helper's place for sessions. Each record of the helper
becomes a `StateRecord` in the log of the session that made it (`core.conversation.helper_records`),
with the id of the call. So there is one log, each record is on disk before its event is shown, what
is spent is counted once, and no request of the session is another for it. `replay_events` makes the
same events again from those records.

How a resume finds them: the call of a helper that has records and no answer is open (`History`), be
it that the helper asks or that a kill cut it short. So it is run again; it finds the records under
its id and goes on from there. Where something else is said first, such a call is answered as lost,
and so are those that its helper left open: each call of every level has one answer.

- feature              The tool `delegate`, and what a session says of its helpers.
- helper_approval      Leave for a helper's calls: what its session has, never more.
- helper_copies        Copies of the project folder in which helpers write.
- helper_store         The place where a helper keeps its records: the log of its session.
- helper_terminal      Makes the terminal of a helper.
- helper_work          Helpers as work that a board shows.
- nested_events        Events of a helper's turn, as the call that it is yields them.
- report               What a helper hands back: its answer, and receipts.
- roles                Roles of helpers: files with front matter, of the person or the project.
- way_back             The way of what a helper wrote into the project: call by call, merged, each
                       of them once.
"""

EXPORTS = {"feature": ["Delegation"], "helper_copies": ["HelperCopies"], "roles": ["Roles"]}
