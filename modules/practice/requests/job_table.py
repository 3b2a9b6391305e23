"""Table of jobs: the steps and the tools of each kind of request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from modules.practice.language.grammar import RequestKind
from modules.practice.requests import file_jobs, folder_job, other_jobs
from modules.practice.requests.file_jobs import Parts
from modules.practice.requests.steps import JobSteps
from modules.practice.voice import Voice


@dataclass(frozen=True, slots=True)
class Job:
    """*english* and *chinese* are what a kind of request is called.

    *tools* are those that it calls when all goes well, in order.
    """

    english: str
    chinese: str
    steps: Callable[[Parts, Voice], JobSteps]
    tools: tuple[str, ...] = ()


JOBS: Mapping[RequestKind, Job] = {
    "help": Job("help", "帮助", other_jobs.introduce),
    "greet": Job("greet", "打招呼", other_jobs.introduce),
    "thank": Job("thank", "道谢", other_jobs.answer_thanks),
    "describe": Job(
        "describe", "描述", folder_job.describe, ("list_files", "find_files", "read_file")
    ),
    "show": Job("show", "查看", file_jobs.show, ("read_file",)),
    "make": Job("make", "新建", file_jobs.create_file, ("create_file",)),
    "make printing": Job("make", "新建", file_jobs.create_printing_file, ("create_file",)),
    "overwrite": Job("overwrite", "覆盖", file_jobs.overwrite, ("read_file", "create_file")),
    "append": Job("append", "追加", file_jobs.append, ("modify_file",)),
    "replace": Job("replace", "替换", file_jobs.replace, ("read_file", "modify_file")),
    "cut out": Job(
        "cut text out of", "删去文字", file_jobs.delete_text, ("read_file", "modify_file")
    ),
    "run file": Job("run", "运行", other_jobs.run_file, ("run_command",)),
    "run command": Job("run command", "执行命令", other_jobs.run_command, ("run_command",)),
    "run python": Job("run python", "执行 Python", other_jobs.run_python, ("run_python",)),
    "compute": Job("compute", "计算", other_jobs.compute, ("run_python",)),
    "search": Job("find", "查找", file_jobs.search, ("search_text",)),
    "find files": Job("find files", "找文件", file_jobs.find_files, ("find_files",)),
    "rename": Job("rename", "重命名", file_jobs.rename, ("rename_file",)),
    "delete": Job("delete", "删除", file_jobs.delete, ("delete_file",)),
    "delete folder": Job(
        "delete folder", "删除文件夹", file_jobs.delete_folder, ("delete_folder",)
    ),
    "make folder": Job("make folder", "新建文件夹", file_jobs.make_folder, ("create_folder",)),
    "focus": Job("focus", "聚焦", other_jobs.focus, ("focus_file",)),
    "unfocus": Job("unfocus", "取消聚焦", other_jobs.unfocus, ("unfocus_file",)),
    "note": Job("note", "备注", other_jobs.note, ("annotate_file",)),
    "drop note": Job("drop note", "去掉备注", other_jobs.remove_note, ("annotate_file",)),
    "remember": Job("remember", "记住", other_jobs.remember, ("remember",)),
    "plan": Job("plan", "计划", other_jobs.plan, ("update_todos",)),
    "count": Job("count", "统计", other_jobs.count, ("run_python",)),
    "undo": Job("undo", "撤销", other_jobs.undo),
}
