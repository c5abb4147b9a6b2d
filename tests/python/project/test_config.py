"""`python -m plait.config` gives compilers the paths of the files of the installed package."""

import subprocess
import sys
from pathlib import Path

import pytest

import plait
from plait import config

FOLDER = Path(plait.__file__).parent


def test_folders_have_the_expected_files():
    assert (config.include_dir() / "plait.h").is_file()
    assert (config.include_dir() / "plait/layout.hpp").is_file()
    assert (config.library_dir() / "libplait.so").is_file()
    assert (config.cmake_dir() / "plait-config.cmake").is_file()
    assert (config.pkg_config_dir() / "plait.pc").is_file()


def test_options_are_printed_on_one_line():
    command = [sys.executable, "-m", "plait.config", "--cflags", "--libs", "--cmake-dir", "--pkg-config-dir"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.split() == [
        f"-I{FOLDER / 'include'}",
        f"-L{FOLDER}",
        f"-Wl,-rpath,{FOLDER}",
        "-lplait",
        str(FOLDER / "cmake"),
        str(FOLDER / "pkgconfig"),
    ]


def test_each_mpi_has_its_libraries(monkeypatch, tmp_path):
    for name in (
        "libplait_mpiio_mpich.so",
        "libplait_mpiio_access_mpich.so",
        "libplait_mpi_openmpi.so",
        "libplait_mpi_mpich.so",
        "libplait.so",
    ):
        (tmp_path / name).touch()
    monkeypatch.setattr(config, "library_dir", lambda: tmp_path)
    assert config.families() == ["mpich", "openmpi"]
    assert config.libs("mpich")[2:] == ["-lplait_mpi_mpich", "-lplait"]
    with pytest.raises(ValueError, match="no library for --mpi ''; there are --mpi mpich, --mpi openmpi"):
        config.libs("")
    (tmp_path / "libplait_mpi.so").touch()
    assert config.libs("")[2:] == ["-lplait_mpi", "-lplait"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "nothing was asked for"), (["--libs", "--mpi", "lam"], "there is no library for --mpi 'lam'")],
)
def test_wrong_options_are_rejected(capsys, arguments, message):
    with pytest.raises(SystemExit) as error:
        config.main(arguments)
    assert error.value.code == 2
    assert message in capsys.readouterr().err


def test_a_program_compiles_with_the_options(tmp_path):
    (tmp_path / "program.c").write_text(
        "#include <plait.h>\n#include <stdio.h>\nint main(void) { puts(plait_version()); }\n"
    )
    command = f"cc program.c -o program $({sys.executable} -m plait.config --cflags --libs) && ./program"
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.stdout.strip() == plait.__version__, result.stderr
