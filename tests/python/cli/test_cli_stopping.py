"""Copies that get a signal in a long call: the process that ends them imports no modules of the working directory."""

import subprocess
import sys

STOP_IN_A_LONG_CALL = """
import os, signal, time
from plait.cli.copying.stopping import ended_in_time
signal.signal(signal.SIGTERM, lambda number, frame: None)
with ended_in_time(["b.npy"], "it was stopped"):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(100)
"""


def test_modules_in_the_working_folder_are_not_imported(tmp_path):
    (tmp_path / "re.py").write_text("open('run', 'w')\nraise SystemExit\n", encoding="utf-8")
    (tmp_path / "plait").mkdir()
    (tmp_path / "plait" / "__init__.py").write_text("open('run', 'w')\n", encoding="utf-8")
    script = tmp_path.parent / f"{tmp_path.name}.py"
    script.write_text(STOP_IN_A_LONG_CALL, encoding="utf-8")
    result = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert (result.returncode, result.stderr) == (1, "Error: it was stopped\n")
    assert not (tmp_path / "run").exists()
