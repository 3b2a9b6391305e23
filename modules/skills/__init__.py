"""Skills: how to do a kind of task, written down in the open format of `SKILL.md`.

- feature   Skills in a session: listed for the model, read by it, switched and installed.
- files     Files of skills: where they lie, what one says of itself, and what it holds.
- install   Installing of skills from a folder or an archive, and removing them.
- switches  Switches of the skills as a project keeps them: for all its sessions, until they are
            changed.
"""

EXPORTS = {
    "feature": ["ADDRESS", "Skills"],
    "files": ["BUILT_IN"],
    "switches": ["SkillSwitches"],
}
