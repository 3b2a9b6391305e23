"""The file system that a program sees, and what of it must be as before afterwards.

- approved_python  Which Python installation outside the project its programs may see, remembered
                   for each project.
- devices          Device nodes of our own, for whoever owns the machine's.
- etc              The /etc that programs see: one prepared folder without a secret, made once.
- folder_removal   Removing a folder that a program has filled, however deep and locked it left it.
- folders          Looking into folders as programs may have left them: locked, or deeper than any
                   path can name.
- git_baseline     What git obeys in one repository, as it was before a run, and how to have it so
                   again.
- git_lines        Lines that can make git run something, in files that ordinary work with git
                   writes too.
- git_protection   Putting git's dangerous files back, where a tier cannot keep programs from
                   changing them.
- git_run_record   What git obeyed before a run, on disk for as long as the run takes: a kill must
                   not lose it.
- interpreter      Which Python runs the model's code, and what of it has to be made visible.
- mount_points     Mount points that a sandbox needs in the project where there is nothing, and
                   their removal.
- mounts           What a program sees of the machine: decided anew for each call, before anything
                   is mounted.
- moved_folders    Finding a folder that a program has moved, and putting it where it was.
- replaced_files   Files that are shown in the place of others, kept by what is in them.
- unix_sockets     Sockets that other programs of the person keep in the project: a door past all
                   walls.
"""
