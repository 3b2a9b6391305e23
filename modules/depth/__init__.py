"""Depth of tasks: what a line says of it, and the rules for that, ours and the person's.

- courtesies     Lines that are wholly social: thanks, greetings, goodbyes, praise, small talk.
- decision_stops  Stops of a deep task: at decisions that the model marks, and after a step that
                 failed.
- feature        Depth of tasks: social, brief, standard or deep, by rules that the person can see
                 and edit.
- hinted_pattern Patterns that are compiled only for a line which may fit.
- line_rules     Rules by which a line says how deep its task is, in English and Chinese.
- line_signs     Signs of a line by which its depth is told: its words, where they stand, and its
                 shape.
- open_answers   Answers that leave something open, to which "ok" may be a yes.
- orders         Clauses that set to work, have it go on or stop, or insist: a courtesy beside them
                 is no more.
- person_config  Configuration of the person in `CONFIG.md`: preferences, and rules of how deep a
                 task goes.
- simple_questions
                 Simple questions, in English and Chinese: they ask what is, and for no work.
- word_points    Points that each sign of a line gives to each depth; the depth with the most has
                 the line.
"""

EXPORTS = {
    "decision_stops": ["DecisionStops", "deep_note"],
    "feature": ["DEPTH_LABELS", "TaskDepth"],
}
