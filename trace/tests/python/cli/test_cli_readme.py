"""The example of trace/README.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[4] / "trace/README.md"


def test_the_example_runs(tmp_path):
    block = re.findall(r"```console\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    commands = re.findall(r"^\$ (plait .*)", block, re.MULTILINE)
    assert len(commands) == 3
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command in commands:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "record" in command or done.stdout
