"""Project files that other programs read: recipes, workflow, forms and citation, as far as this machine can check."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

import release  # noqa: E402
import versions  # noqa: E402
import wheel  # noqa: E402
from wheels.mpis import WRAPPERS  # noqa: E402

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUN_REQUIREMENTS = SETTINGS["project"]["dependencies"]
BUILD_REQUIREMENTS = SETTINGS["build-system"]["requires"]
HEADERS = ("zlib1g-dev", "libsodium-dev", "nlohmann-json3-dev", "libzstd-dev", "libhdf5-dev")
"""Debian's packages of the libraries that CMakeLists.txt looks for."""
yaml = pytest.importorskip("yaml", reason="PyYAML, which comes with dask, is not installed")


def load_yaml(name: str) -> Any:
    """Return the contents of a YAML file of the project."""
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def package_names(requirements: list[str]) -> set[str]:
    """Return the packages that requirements name, without versions."""
    return {re.split(r"[ <>=\[;@]", requirement)[0] for requirement in requirements}


def test_the_version_is_the_same_everywhere() -> None:
    assert versions.find_differences() == []


def test_a_different_version_is_detected(tmp_path: Path) -> None:
    for name in ["pyproject.toml", *versions.COPIES]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    citation = (tmp_path / "CITATION.cff").read_text(encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text(re.sub(r"(?m)^version: .*$", "version: 9.9", citation), encoding="utf-8")
    (tmp_path / "bench/pyproject.toml").write_text("", encoding="utf-8")
    assert versions.find_differences(tmp_path) == [
        f"bench/pyproject.toml has no version; expected {versions.version()}",
        f"CITATION.cff has version 9.9; expected {versions.version()}",
    ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", [".github/workflows/test.yml", ".github/workflows/wheels.yml"]),
        ("github-issue-forms", [".github/ISSUE_TEMPLATE/problem.yml", ".github/ISSUE_TEMPLATE/wish.yml"]),
        ("github-issue-config", [".github/ISSUE_TEMPLATE/config.yml"]),
        ("citation-file-format", ["CITATION.cff"]),
    ],
)
def test_files_fit_their_schema(schema: str, files: list[str]) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed; make setup installs it")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_the_workflow_tries_compilers_mpis_and_pythons() -> None:
    job = load_yaml(".github/workflows/test.yml")["jobs"]["test"]
    runs = job["strategy"]["matrix"]["include"]
    assert {"3.10", "3.11", "3.12", "3.13", "3.14"} == {run["python"] for run in runs}
    assert {"mpich", "openmpi"} == {run["mpi"] for run in runs}
    assert {"g++", "clang++"} == {run["compiler"].rsplit("-", 1)[0] for run in runs}
    assert "make test-all" in [step.get("run") for step in job["steps"]]


def test_the_conda_recipe_has_the_requirements_of_the_package() -> None:
    recipe = load_yaml("packaging/conda/recipe.yaml")["requirements"]
    for required, section in ((RUN_REQUIREMENTS, recipe["run"]), (BUILD_REQUIREMENTS, recipe["host"])):
        entries = {entry if isinstance(entry, str) else entry["then"] for entry in section}
        for requirement in required:
            name, _, limits = requirement.partition(">=")
            assert f"{name} >={limits.split(';')[0].strip()}" in entries, f"the recipe lacks {requirement}"
    assert f"python {SETTINGS['project']['requires-python']}" in recipe["run"]


def run_spack_recipe(recipe: str) -> tuple[type, list[tuple[str, tuple[Any, ...], dict[str, Any]]]]:
    """Return a Spack recipe's class, and the directives that it calls, read with stand-ins for Spack's modules."""
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def directive(name: str) -> Callable[..., None]:
        return lambda *args, **options: calls.append((name, args, options))

    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts"):
        setattr(package, name, directive(name))
    modules = {"spack": types.ModuleType("spack"), "spack.package": package}
    for system, base in (("cmake", "CMakePackage"), ("python", "PythonPackage")):
        module = types.ModuleType(f"spack_repo.builtin.build_systems.{system}")
        setattr(module, base, type(base, (), {}))
        modules[module.__name__] = module
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[parent] = types.ModuleType(parent)
    scope: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        exec(compile((ROOT / recipe).read_text(encoding="utf-8"), recipe, "exec"), scope)
    (recipe_class,) = [
        value for value in scope.values() if isinstance(value, type) and value.__name__ in ("Plait", "PyPlait")
    ]
    return recipe_class, calls


def test_the_spack_recipe_has_the_requirements_of_the_package() -> None:
    _, calls = run_spack_recipe("packaging/spack/packages/py_plait/package.py")
    needed = {args[0].split("@")[0] for name, args, _ in calls if name == "depends_on"}
    libraries = {"zlib-api", "libsodium", "nlohmann-json", "zstd", "hdf5", "mpi"}
    assert {
        f"py-{name}" for name in package_names(RUN_REQUIREMENTS) | package_names(BUILD_REQUIREMENTS)
    } | libraries <= needed
    assert ("version", (versions.version(),), {}) in calls


def test_the_spack_recipe_of_the_libraries_sets_options_that_exist() -> None:
    kind, calls = run_spack_recipe("packaging/spack/packages/plait/package.py")
    assert ("version", (versions.version(),), {}) in calls

    class Spec(dict[str, Any]):
        def satisfies(self, text: str) -> bool:
            return text == "+mpi"

    package = kind()
    package.spec = Spec(mpi=types.SimpleNamespace(mpicc="/opt/mpi/bin/mpicc"))
    package.define = lambda name, value: f"-D{name}={value}"
    package.define_from_variant = lambda name, variant: f"-D{name}={variant}"
    options = [option.split("=")[0].removeprefix("-D") for option in package.cmake_args()]
    texts = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8") + (ROOT / "cmake/PlaitMpi.cmake").read_text("utf-8")
    assert options
    assert not [option for option in options if not re.search(rf"\b{option}\b", texts)]


def test_the_conda_recipe_has_the_libraries() -> None:
    recipe = load_yaml("packaging/conda/recipe.yaml")["requirements"]
    named = {name for name in recipe["host"] if isinstance(name, str)}
    assert {"hdf5 >=1.10.5", "libsodium", "nlohmann_json >=3.10", "zlib", "zstd"} <= named


def test_the_wheels_are_for_old_systems_and_every_mpi() -> None:
    settings = tomllib.loads((ROOT / "packaging/wheels.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    assert settings["manylinux-x86_64-image"] == settings["manylinux-aarch64-image"] == "manylinux_2_28"
    families = [
        family.split("=")[0] for family in settings["config-settings"]["cmake.define.PLAIT_MPI_FAMILIES"].split(";")
    ]
    assert families == list(WRAPPERS)
    assert [wheel_name.split("-")[0] for wheel_name in settings["build"]] == ["cp310", "cp311", "cp312"]
    (override,) = settings["overrides"]
    assert override["config-settings"] == {"wheel.py-api": "cp{}{}".format(*wheel.STABLE)}


def test_the_container_file_installs_what_the_build_needs() -> None:
    text = (ROOT / "packaging/docker/Dockerfile").read_text(encoding="utf-8")
    joined = text.replace("\\\n", " ")
    words = {line.split()[0] for line in joined.splitlines() if line and not line.startswith("#")}
    assert words <= {"FROM", "RUN", "ENV", "COPY", "USER", "WORKDIR", "CMD"}
    build_stage, run_stage = joined.split("FROM debian:12-slim\n")
    assert {"g++", "python3-dev", "python3-venv", *HEADERS} <= set(build_stage.split())
    assert {"python3", "zlib1g", "libsodium23", "libzstd1"} <= set(run_stage.split())
    setup = (ROOT / "scripts/setup.sh").read_text(encoding="utf-8")
    assert not [name for name in ("python3-dev", *HEADERS) if f"echo {name}" not in setup]


@pytest.mark.parametrize("page", ["README.md", "docs/start.md", "docs/tasks.md", ".github/workflows/test.yml"])
def test_pages_name_every_system_package(page: str) -> None:
    """System packages are those of the libraries that CMakeLists.txt looks for."""
    settings = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    looked_for = re.findall(r"^find_package\((\w+)", settings, re.MULTILINE)
    assert looked_for == ["Threads", "ZLIB", "Sodium", "nlohmann_json", "Zstd", "Hdf5Header"], (
        "HEADERS has a package for each"
    )
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not [name for name in HEADERS if name not in text]


@pytest.mark.parametrize(
    ("heading", "date"),
    [("## 1.2 (unreleased)", "unreleased"), ("## 1.2 - 2026-01-31", "2026-01-31"), ("## 11.2 - 2026-01-31", None)],
)
def test_sections_of_the_changelog_are_found(heading: str, date: str | None) -> None:
    section = release.find_changelog_heading(f"# Changelog\n\n{heading}\n\ntext\n", "1.2")
    assert (section and section["date"]) == date


def test_the_release_checklist_holds() -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "scripts/release.py", "--no-build"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "release: version" in result.stdout
    assert result.stdout.endswith("Nothing was published.\n")
