"""Data that earlier versions left, one archive each; `python3 -m tests.upgrade` makes today's.

Before a version is tagged its archive is made and committed. An archive is never made again: it is
what people of that version have on their disks. `0.1.0-2026-11-21` was left by a checkout of that
day, whose checkpoints have an older schema.
"""
