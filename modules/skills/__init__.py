"""Skills: how to do a kind of task, written down in the open format of `SKILL.md`.

- carried        Scripts that a session wrote and ran: a skill made of it carries them.
- draft          A skill drafted from what a session proved: by one bounded call of the model.
- feature        Skills in a session: listed for the model, read by it, switched and installed.
- files          Files of skills: where they lie, what one says of itself, and what it holds.
- install        Installing of skills from a folder or an archive, and removing them.
- saving         `/skill save NAME`: what a session proved to work becomes a skill of the project.
- session_proof  What a session proved to work: its commands that ended well, decisions and files.
- switches       Switches of the skills as a project keeps them: for all its sessions, until they
                 are changed.
- trial          The trial of a drafted skill: its programs run once in a copy of the project.
"""

EXPORTS = {
    "feature": ["ADDRESS", "Skills"],
    "files": ["BUILT_IN"],
    "saving": ["SavesSkills"],
    "switches": ["SkillSwitches"],
    "trial": ["Trial"],
}
