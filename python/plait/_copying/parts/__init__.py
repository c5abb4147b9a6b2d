"""Copies in parts: independent processes on any hosts copy one target, each of them some of its chunks."""

from .running import PartResult
from .tasks import CopyTask, CopyTasks, copy_tasks, discard_copy, finish_copy, run_task

__all__ = ["CopyTask", "CopyTasks", "PartResult", "copy_tasks", "discard_copy", "finish_copy", "run_task"]
