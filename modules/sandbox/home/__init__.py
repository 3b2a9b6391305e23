"""The home of programs: a folder for each project, kept between calls and bounded.

- program_home  The home that programs find, which stays: whose turn it is, its size, and emptying
                it.
- usage         How much is in the home of programs, by what could be removed of it.
- variables     Variables that have programs keep what they keep in their home.
"""

EXPORTS = {
    "program_home": ["ProgramHome"],
    "variables": ["HOME_IN_SANDBOX", "WAITING_HOME", "home_variables", "own_programs"],
}
