"""The walk: every place of the page, entered, gone through and left by keyboard alone.

`keyboard.py` presses the keys and says what was wrong, `places.py` lists the places, `project.py`
is what there is to be seen.
"""
