"""A class either keeps its state to itself or is a plain value: none has public fields beside what acts on them.

The state of a class with functions that change it, or with a private part, is what these promise to keep in order;
a public field beside them lets everybody else change it as well.  A plain value has public fields, constructors and
functions that only look.
"""

import re
from collections.abc import Iterator

import pytest
from sources import files_with, read

WORDS_AND_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)
CLASS = re.compile(
    r"(?<!enum )\b(class|struct)\s+(?:\[\[\w+\]\]\s*)?((?:\w+::)*\w+)(?:<[^{};()]*>)?(?:\s+final)?"
    r"\s*(?::(?!:)[^{};]*)?\{"
)
ACCESS = re.compile(r"(public|private|protected)\s*:(?!:)")
# What declares no field and does nothing by itself; a constructor's list goes on with a comma.
OTHER = re.compile(r"(?:using|friend|typedef|enum|class|struct|union|static_assert|static|constexpr)\b|,")
TEMPLATE = re.compile(r"template\s*<[^;{}]*?>\s*(?=[A-Za-z_:~\[])")
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\b(?:inline|virtual|explicit|mutable|noexcept)\b")
ARGUMENTS = re.compile(r"<[^<>()]*(?:\([^()]*\))?[^<>()]*>")  # of templates, the innermost
OPERATOR = re.compile(r"\boperator\s*(?:\(\)|[^\s\w(]+|[\w:<> ]+)\s*\(")
CALLED = re.compile(r"(~?\w+)\s*\($")


def end_of_block(text: str, begin: int) -> int:
    """Behind the brace that closes the one before `begin`."""
    depth, at = 1, begin
    while depth and at < len(text):
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return at


def statements(body: str) -> Iterator[str]:
    """What a class declares, without bodies and what braces give as a first value."""
    start = at = depth = 0
    while at < len(body):
        letter = body[at]
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter == "{" and re.search(r"\w\s*=(?!=)[^()]*$", body[start:at]):
            at = end_of_block(body, at + 1)
            continue  # within a first value
        if depth == 0 and letter in ";{":
            yield body[start:at].strip()
            if letter == "{":
                at = end_of_block(body, at + 1)
                at += len(body[at:]) - len(body[at:].lstrip())
                if body[at : at + 1] != ";":
                    start = at
                    continue
            start = at + 1
        at += 1


def without_templates(text: str) -> str:
    """A declaration without what stands between angle brackets."""
    while (shorter := ARGUMENTS.sub("", text)) != text:
        text = shorter
    return text


def faults(kind: str, name: str, body: str) -> list[str]:
    """Public fields of a class beside what acts on them."""
    access = "public" if kind == "struct" else "private"
    fields, acts = [], []
    for statement in statements(body):
        rest = statement
        while found := ACCESS.match(rest):
            access, rest = found.group(1), rest[found.end() :].strip()
        rest = " ".join(ATTRIBUTE.sub(" ", TEMPLATE.sub("", rest)).split())
        if not rest or OTHER.match(rest):
            continue
        if access != "public":
            acts.append(f"the {access} part")
        front, _, behind = without_templates(OPERATOR.sub("operator_(", rest)).partition("(")
        is_function = behind and "=" not in front and not behind.startswith("*")
        if is_function:
            called = CALLED.search(front + "(")
            maker = called is not None and called.group(1) == name.split("::")[-1]
            looks = re.search(r"\)\s*const\b|\)[^()]*=\s*(?:default|delete)$", rest)
            if not maker and not looks:
                acts.append(f"{called.group(1) if called else front}()")
        elif access == "public" and not (rest.startswith("const ") and "*" not in rest):
            fields.append(rest.partition("=")[0].strip().rpartition(" ")[2])
    return [f"{name}: {', '.join(fields)} beside {', '.join(dict.fromkeys(acts))}"] if fields and acts else []


def faults_in(text: str) -> list[str]:
    """Of all classes of a text, those inside others too."""
    text = WORDS_AND_COMMENTS.sub(lambda found: "" if found.group()[0] == "/" else '""', text)
    return [
        fault
        for found in CLASS.finditer(text)
        for fault in faults(found.group(1), found.group(2), text[found.end() : end_of_block(text, found.end()) - 1])
    ]


def test_classes_keep_their_state_to_themselves() -> None:
    found = [
        f"{path}: {fault}"
        for path in files_with({".hpp", ".cpp"}, "src", "include", "bindings")
        for fault in faults_in(read(path))
    ]
    assert not found, "make the fields private, or the functions free ones of a plain value:\n" + "\n".join(found)


PLAIN = """
struct Value {
  explicit Value(int first) : number(first), list{first} {}
  template <typename Other> bool same(const Other& other) const { return number == other.number; }
  Value& operator=(const Value&) = default;
  bool operator==(const Value&) const = default;
  static Value none() { Value made{0}; made.number = 0; return made; }
  void (*call)(int) = nullptr;
  std::function<void(int, bool)> ended;
  std::map<int, std::vector<int>> list{};
  int number = int{1} << 3;
};
class Kept {
 public:
  static constexpr int kMost = 1 << 20;
  enum class Kind { kOne, kOther };
  struct Inner { int field = 0; };
  void change() { if (number_ > 0) --number_; }
 private:
  int number_ = 0;
};
"""


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (PLAIN, []),
        ("struct A { int number = 0; void change(); };", ["A: number beside change()"]),
        ("class A { public: std::vector<int> all; private: int b_; };", ["A: all beside the private part"]),
        ("struct A { ~A() { end(); } std::function<void(int)> end; };", ["A: end beside ~A()"]),
        ("struct A { struct B { int n; B& next(); }; };", ["B: n beside next()"]),
    ],
)
def test_fields_are_told_from_functions(text: str, fields: list[str]) -> None:
    assert faults_in(text) == fields
