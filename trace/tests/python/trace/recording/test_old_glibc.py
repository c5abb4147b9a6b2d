"""The behavior of the recording library with a C library that is older than the one of this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[5]
PROGRAM = """
#define _GNU_SOURCE
#include <features.h>
#undef __GLIBC_MINOR__
#define __GLIBC_MINOR__ 28
#include "trace/capture/threads.h"
#include <pthread.h>
#include <stdio.h>

static void* print_has_one_thread(void* unused) {
  (void)unused;
  printf("%d", has_one_thread());
  return NULL;
}

int main(void) {
  pthread_t other;
  print_has_one_thread(NULL);
  pthread_create(&other, NULL, print_has_one_thread, NULL);
  pthread_join(other, NULL);
  print_has_one_thread(NULL);
  printf("%d\\n", surely_one_thread());
  return 0;
}
"""


def test_threads_are_counted_without_help_of_glibc(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    command = [
        compiler,
        "-std=gnu11",
        "-Wall",
        "-Werror",
        f"-I{ROOT / 'src'}",
        f"-I{ROOT / 'trace/src'}",
        "program.c",
        "-pthread",
        "-o",
        "program",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True)
    assert done.stdout == "1010\n"
