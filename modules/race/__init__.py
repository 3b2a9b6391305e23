"""A race: one task done several times beside each other, and the best result taken.

What a race is. `/race N TASK` is a turn of its own (`OwnTurn`), without the model of the session.
It clones the folder N times, all of the same moment (what `/fork --with-files` makes: copy-on-write
where that can be), begins in each copy a session with all that was said so far, and has a terminal
of its own (`MainTerminal`, the same features, the same sandbox) run the same `run_turn` there, in a
thread each, a few at once. There is no second loop: a racer is a turn like any other whose events
go to the race instead of a screen.

What people see. The race is one call on every screen. What racers do is its output, what they ask
is asked like anything else and says who asks; a stop stops all. At the end the results stand side
by side: how each ended, the checks of the project as the system ran them, files and lines, time,
price.

What is proposed. Those come first whose checks passed, of the racers that came to an end. Of equals
the model reads pairs, one call each, the winner against the next, and says why. Where it cannot,
the smaller diff goes first, and that is said. The person takes one, or none. With `-p` the proposed
one is taken, as nobody is there to choose.

What is taken. The difference between the copy before and after is done to the folder, by the plan
that undo has (three sides: the copy as it began, as it is, and the folder as it is now). A folder
that nobody touched becomes the copy, byte for byte; elsewhere texts are merged, and where that
cannot be, the folder's file stays and the racer's is put beside it. It is one call: one undo takes
it back. The model is told what was done and what the racer answered. What the racer committed comes
too, unless the person has moved the repository meanwhile.

What it costs. Racers send the same beginning as the session would: system text, tools,
conversation. The first one of each model is ahead by its first reply (or by five seconds of that),
so that the server has kept that beginning when the others ask. All they spend is kept in the
session that races, as it is spent: its budgets cap the race as a whole.

What a kill leaves. A race is a file in the project's data, written before its copies are made, and
locked while it runs. Nothing of it is lost: `/race` tells what there is, `/race take` and `/race
drop` end it. Who was killed in the midst of the choice is asked again when the session is resumed.
A race that was ended is removed whole, at the latest by the next turn.

- choosing       The choice of a race: which result is taken, asked at its end or later.
- comparison     Results of racers side by side: how they stand to each other, and the proposed one.
- feature        `/race`: begins races, tells of those that wait for a choice, and clears the rest.
- kept_races     Races on disk: what there is of each, and whether it still runs.
- pairs          Reading pairs of results: the model says which of two is better, and why.
- race_line      What is said behind `/race`.
- race_phrases   Words and sentences on racers that several parts of a race use.
- race_turn      The turn of a race: copies, racers, results, the proposal.
- race_work      Races and racers as work that a board shows.
- racer_copies   The copies of a race: made, looked at, and removed.
- racer_thread   One racer at work, in a thread of its own.
- running        All racers of a race while they run: who starts when, and what each has come to.
- taking         The turn that brings a racer's result into the folder.
- unkept_ledger  The ledger of a racer: what it spends is kept by the session that races.
"""

EXPORTS = {
    "feature": ["Race"],
    "kept_races": ["Racer"],
    "unkept_ledger": ["UnkeptLedger"],
}
