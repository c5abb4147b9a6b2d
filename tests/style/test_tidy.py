"""clang-tidy reports planted faults: by the custom check of .clang-tidy, and by one of the built-in checks."""

import shutil
import subprocess
from pathlib import Path

import pytest
from sources import ROOT

pytestmark = pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="no clang-tidy; make setup installs it")

FAULTLESS = """
struct Value {
  explicit Value(int first) : number(first) {}
  template <typename Other> bool same(const Other& other) const { return number == other.number; }
  Value& operator=(const Value&) = default;
  bool operator==(const Value&) const = default;
  static Value none() { Value value{0}; value.number = 0; return value; }
  void (*call)(int) = nullptr;
  int number = int{1} << 3;
};
class Hidden {
 public:
  static constexpr int kMax = 1 << 20;
  struct Inner { int field = 0; };
  void change() { if (number_ > 0) --number_; }
 private:
  int number_ = 0;
};
"""
FIELD = "custom-public-field-of-class"


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (FAULTLESS, []),
        ("struct A { int number = 0; void change(); };", [FIELD]),
        ("class A { public: int all; private: int b_; };", [FIELD]),
        ("struct A { ~A() { end(0); } void (*end)(int); };", [FIELD]),
        ("struct A { struct B { int n; B& next(); }; };", [FIELD]),
        ("template <typename T> struct A { T n; template <typename S> void set(S); };", [FIELD]),
        ("int f() { for (int i = 0, j = 0; i < 9; ++j) {} return 0; }", ["bugprone-infinite-loop"]),
    ],
)
def test_planted_faults_are_reported(text: str, reported: list[str], tmp_path: Path) -> None:
    source = tmp_path / "planted.cpp"
    source.write_text(text, encoding="utf-8")
    command = [
        "clang-tidy",
        "--quiet",
        "--experimental-custom-checks",
        f"--config-file={ROOT / '.clang-tidy'}",
        str(source),
    ]
    done = subprocess.run([*command, "--", "-std=c++20"], capture_output=True, text=True, check=False)
    reported_checks = [
        line.rpartition(" [")[2].partition(",")[0] for line in done.stdout.splitlines() if " error: " in line
    ]
    assert reported_checks == reported, done.stdout + done.stderr
    assert (done.returncode != 0) == bool(reported)
