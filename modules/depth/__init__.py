"""Depth of tasks: what a line says of it, and the rules for that, ours and the person's.

- courtesy_shape The shape of a courtesy: clauses that thank, greet, part or praise, and ask for
                 nothing.
- decision_stops  Stops of a deep task: at decisions that the model marks, and after a step that
                 failed.
- feature        Depth of tasks: social, brief, standard or deep, by rules that the person can see
                 and edit.
- hinted_pattern Patterns that are compiled only for a line which may fit.
- kind_lines     Kind lines: thanks in words that ask for nothing, in English, however they are put
                 together.
- line_rules     Rules by which a line says how deep its task is, in English and Chinese.
- open_answers   Answers that leave something open, to which "ok" may be a yes.
- person_config  Configuration of the person in `CONFIG.md`: preferences, and rules of how deep a
                 task goes.
- simple_questions
                 Simple questions, in English and Chinese: they ask what is, and for no work.
- social_lines   Lines that are wholly social: thanks, greetings, goodbyes, praise, in English and
                 Chinese.
- talk_of_things Clauses in the words of talk that are about a thing, or name one: "the star is too
                 big".
- talk_words     Words of talk: of people, feelings, the day and the weather, in English and
                 Chinese.
"""

EXPORTS = {
    "decision_stops": ["DecisionStops", "deep_note"],
    "feature": ["DEPTH_LABELS", "TaskDepth"],
}
