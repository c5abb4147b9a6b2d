"""Files in an overlay file system, as in containers, which has no page cache of its own."""

import subprocess
import sys

import numpy as np
import pytest

READ = """
import numpy as np
import plait

with plait.open("over/a.npy") as file:
    print(file.explain())
    for _ in range(3):
        assert (file.read() == np.load("under/a.npy")).all()
    print(file.explain())
with plait.open("over/a.npy", "r+") as file:
    file.write(file.read() + 1)
    assert (file.read() == np.load("under/a.npy") + 1).all()
"""


def test_pages_cached_by_the_lower_file_system_count_as_cached(tmp_path):
    """If they did not count, reads would be planned as reads from disk, and large reads would use windows."""
    for name in ("under", "changes", "work", "over"):
        (tmp_path / name).mkdir()
    np.save(tmp_path / "under/a.npy", np.arange(3_000_000.0))
    mount = "mount -t overlay overlay -o lowerdir=under,upperdir=changes,workdir=work over"
    command = ["unshare", "-rm", "sh", "-c", f'{mount} || exit 77; exec "$0" -c "$1"', sys.executable, READ]
    try:
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if result.returncode == 77 or result.stderr.startswith("unshare:"):
        pytest.skip(f"file systems cannot be laid on top of others here: {result.stderr}")
    assert result.returncode == 0, result.stderr
    assert "strategy" in result.stdout
    assert "not cached" not in result.stdout
