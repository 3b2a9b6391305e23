"""Bringing the folder from one state to another, whole or not at all.

- apply         Carrying out a plan in the folder, in an order that leaves nothing half done.
- apply_steps   What can be done to one path when a plan is carried out, in the order in which it
                must be.
- atomic_file   Putting one file in place, or taking it away, so that it is whole or not there at
                any moment.
- hardlinks     Names of one file: which of them were, and where another one can be linked to.
- merge3        Three-way merging of text, line by line.
- operations    What is to be done to bring a folder from one state to another, as values.
- plan          What an undo is going to do, worked out before anything is touched.
- tree_builder  Making a state of the folder that never was, out of states that were.
"""
