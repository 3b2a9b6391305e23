"""One run: the process, its output, what it changed, and what it leaves behind.

- execution       One confined program, from its start to the death of its last process.
- file_changes    What a run did to the files of the project: seen by looking before and after.
- mount_cleanup   What takes our mount points out of the project when we were killed and cannot do
                  it ourselves.
- orphan_cleanup  What is left of sandboxes when what had started them was killed.
- output          The output of a program: its two ends at hand, what is between them in a file
                  without a name.
- prewarmed       A Python that is ready and waits for its one piece of code, so that the common
                  call is fast.
- process         A confined process and our handles on it: its output, its gate, and the means to
                  kill it.
- python_runner   How the model's Python is run: as a script that ends like a notebook cell.
"""
