"""SQLite and files for all that Onefold keeps, with every failure explained.

- data_folder      Where everything that Onefold keeps about a project lives: outside of that
                   project.
- database         A SQLite file that threads and processes share, opened at first use, with
                   failures explained.
- page_reader      What can still be read of a broken SQLite file: every row that a whole page of it
                   holds.
- read_only        Reading a SQLite file where nothing can be written: not the file, nor anything
                   beside it.
- shared_lock      A lock that processes share by way of a file: many hold it together, or one
                   alone.
- sqlite_errors    What an error of SQLite means to a person: a broken file, a full disk, a place
                   that is closed.
- sqlite_recovery  A database that goes on in a new file when its own turns out to be broken.
"""
