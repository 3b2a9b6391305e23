"""Data that earlier versions left, one archive each; `python3 -m tests.upgrade` makes today's.

Before a version is tagged its archive is made and committed. An archive is never made again: it is
what people of that version have on their disks.
"""
