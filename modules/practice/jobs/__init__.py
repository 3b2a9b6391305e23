"""Doing requests: the steps of each, and what their answers mean.

- file_jobs       The requests about files and folders, each as the steps that do it.
- folder_job      Describing a folder: what kinds of files, which folders, what the README and main
                  file say.
- job_table       Which job does which kind of request, and with which tools.
- numbered_lines  Reading back what `read_file` answers: a head, then lines with their numbers.
- other_jobs      The requests that run something or keep something, and those that are answered in
                  words.
- run_results     Reading back what `run_python` and `run_command` answer.
- steps           What a job of the practice model is made of: calls, their answers, and how it can
                  fail.
- summing_up      Summing a conversation up without understanding it: what was asked, and what was
                  called.
- templates       Small programs that print a text, in the languages whose files are named so.
"""
