"""Programs of the model, run so that they cannot do more than they should.

- backends/    The backends of confinement, and finding the best that this machine has.
- filesystem/  The file system that a program sees, and what of it must be as before afterwards.
- git/         Files that git obeys: as they were, whatever a program did.
- limits/      Limits of memory, processes, time and disk, kept by the kernel or by a watchdog.
- network/     The one way to the network: a proxy, and what is fetched for a program.
- run/         One run: the process, its output, what it changed, and what it leaves behind.
- toolchains/  The person's own toolchains: found by their PATH, and shown to programs without their
               secrets.
- sandbox      Programs of the model, run so that they cannot do more than they should.
- types        Types of requests to a sandbox, and of its answers.
"""
