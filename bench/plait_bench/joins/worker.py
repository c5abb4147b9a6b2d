"""A process that does one task with one tool, and reports its time.

usage: python -m plait_bench.joins.worker CASE TOOL TEXTS FOLDER SOURCE TARGET
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

import numpy as np

from plait_bench.copies.worker import make_durable
from plait_bench.joins.data import JoinSize, make_texts
from plait_bench.joins.tools import CASES, Work


def main() -> None:
    """Do the task that the command line describes."""
    key, name, texts, folder, source, target = sys.argv[1:]
    case = CASES[key]
    tool = case.tools[name]
    for module in tool.modules:
        importlib.import_module(module)
    # The texts are made before the clock starts.
    needs_texts = case.unit == "texts" and not case.source
    texts_to_write = (
        np.array(make_texts(JoinSize(files=0, file_bytes=0, texts=int(texts))), object) if needs_texts else None
    )
    work = Work(Path(folder), Path(source), Path(target), texts_to_write)
    begin = time.perf_counter()
    result = tool.run(work)
    if case.target:
        make_durable(folder)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "right": case.has_read(int(texts), result)}))


if __name__ == "__main__":
    main()
