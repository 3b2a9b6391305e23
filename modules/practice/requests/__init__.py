"""Doing requests: the steps of each, and what their answers mean.

- file_jobs       The requests about files and folders, each as the steps that do it.
- folder_job      Describing a folder: what kinds of files, which folders, what the README and main
                  file say.
- job_table       Table of jobs: the steps and the tools of each kind of request.
- numbered_lines  Parser of the answers of `read_file`: a head, then lines with their numbers.
- other_jobs      The requests that run something or keep something, and those that are answered in
                  words.
- run_results     Parser of the answers of `run_python` and `run_command`.
- steps           Parts of a job of the practice model: calls, their answers, and its failures.
- summary         Summary of a conversation without understanding it: the requests and the calls.
- templates       Templates of small programs that print a text, by the suffix of the file.
"""

EXPORTS = {
    "job_table": ["JOBS"],
    "steps": ["JobFailed", "JobSteps", "STOPPED_PREFIXES", "StepAnswer", "ToolUnavailable"],
    "summary": ["is_summary_request", "summarize"],
}
