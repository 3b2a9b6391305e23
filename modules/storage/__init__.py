"""SQLite and files for all that Onefold keeps, with every failure explained.

- data_folder      Data folder of a project, outside of it, with everything that Onefold keeps about
                   it.
- database         A SQLite file that threads and processes share, opened at first use, with
                   failures explained.
- kept_approvals   Approvals that last: what the person allowed in a project until they take it
                   back.
- kept_switches    Switches of the tools as a project keeps them: for all its sessions, until they
                   are changed.
- page_reader      Reader of a broken SQLite file: every row of every page that is whole.
- read_only        Reading a SQLite file where nothing can be written: not the file, nor anything
                   beside it.
- shared_lock      A lock that processes share by way of a file: many hold it together, or one
                   alone.
- sqlite_errors    Errors of SQLite in sentences for people: a broken file, a full disk, no
                   permission.
- sqlite_recovery  A database that goes on in a new file when its own turns out to be broken.
"""

EXPORTS = {
    "data_folder": ["DataFolder"],
    "database": ["DamagedDatabase", "Database", "Migration"],
    "kept_approvals": ["KeptApprovals"],
    "kept_switches": ["KeptSwitches"],
    "page_reader": ["Buffer", "Value", "read_rows"],
    "sqlite_errors": ["damaged"],
    "sqlite_recovery": ["RecoverableDatabase", "with_recovery"],
}
