"""The home of programs: a folder for each project, kept between calls and bounded.

- clean_command   The home of programs, for people: how much is in it, and emptying it.
- home_variables  Variables that have programs keep what they keep in their home.
- program_home    The home that programs find, which stays: whose turn it is, its size, and emptying
                  it.
- usage           How much is in the home of programs, by what could be removed of it.
"""

EXPORTS = {
    "home_variables": ["HOME_IN_SANDBOX", "WAITING_HOME", "home_variables", "own_programs"],
    "program_home": ["ProgramHome"],
}
