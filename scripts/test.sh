#!/usr/bin/env bash
# Runs the checks that every change must pass; the last line is `checks: N passed, M failed`.
#
# usage: scripts/test.sh              builds; tests C++, C, Python and MPI on 2 and 4 ranks; checks format, types, style
#        scripts/test.sh --rest       the second level: other numbers of ranks, hosts, installation, Open MPI, linters,
#                                     sanitizers, fuzzing, and long tests
#        scripts/test.sh --all        both
#        scripts/test.sh CHECK...     only these; scripts/test.sh --list names them
#        PRODUCT=array, trace, historical or mpiio: builds one product, with the array library, and runs its tests only
# CTest and pytest run the tests; CONTRIBUTING.md describes how to run single tests.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

first=(build format types style cpp python mpi-2 mpi-4)
rest=(cpp-ranks mpi-1 mpi-3 mpi-6 python-long hosts-2 hosts-3 install tidy address fuzz thread)
extra=(conformance) # only by name: it needs Debian's MPIs, which scripts/conformance.sh --install installs

# Python stores bytecode, because otherwise each process and rank would compile all tests.  NumPy starts no threads.
# The cost model is the built-in one, even if this machine is calibrated.  Jobs may have more ranks than cores.
unset PYTHONDONTWRITEBYTECODE
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PLAIT_MODEL=builtin PLAIT_RELEASE_BUILD="$plait_release"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export CTEST_PARALLEL_LEVEL="$plait_jobs" CMAKE_BUILD_PARALLEL_LEVEL="$plait_jobs"

# These limits end hanging tests that a test's own limit cannot end: all ranks hang in MPI, or Python hangs in C code.
pytest() { timeout -k 10 3600 python -m pytest -q "$@"; }
on_ranks() { PLAIT_TEST_RANKS="$1" timeout -k 10 1800 mpiexec -n "$1" python -m pytest -q "${@:2}"; }
# More Python tests run at a time than there are cores, because many of them wait for programs, clocks and networks.
pytest_together() { pytest -n $((2 * plait_jobs)) --dist worksteal "$@"; }
release_tests() { ctest --test-dir "$plait_release" --output-on-failure --no-tests=error "$@"; }
sanitized() { # PRESET CTEST-OPTION...
  cmake --preset "$1"
  cmake --build --preset "$1"
  ctest --preset "$@"
}
on_hosts() { # HOSTS PLACE RANKS TEST...
  local missing launch=(timeout -k 10 1800 scripts/hosts.py exec --hosts "$1" --place "$2" -- mpiexec -n "$3")
  if missing=$({ scripts/hosts.py check || true; } | grep -E '^(no hosts here|launcher +no): '); then
    echo "SKIPPED the tests on $1 hosts: $missing"
    return
  fi
  export PLAIT_TEST_RANKS="$3"
  "${launch[@]}" python -m pytest -q "${@:4}"
  "${launch[@]}" "$plait_release/plait_c_mpi_tests"
}
# The tests that depend on the network between hosts.
between_hosts='_(distant|hosts|nodes|redistribute|redistribution_plans|shared_files|streams|stripes)\.py$'

# The tests and sources of each product.  Tests of the whole project do not belong to the array library.
product="${PRODUCT:-all}"
ignored_project_tests=(--ignore=tests/python/project --ignore=tests/python/bench)
selected=(-L "product\.$product$")
case "$product" in
  all)
    python_tests=(tests/python trace/tests/python historical/tests/python mpiio/tests/python)
    mpi_tests=(tests/mpi trace/tests/mpi historical/tests/mpi)
    typed_folders=(
      python/plait trace/python/plait mpiio/python/plait bench/plait_bench scripts examples/python tests/types
    )
    selected=()
    ;;
  array)
    python_tests=(tests/python "${ignored_project_tests[@]}")
    mpi_tests=(tests/mpi)
    typed_folders=(python/plait scripts)
    rest=(cpp-ranks mpi-1 mpi-3 mpi-6 python-long hosts-2 hosts-3 tidy address fuzz thread)
    ;;
  trace)
    python_tests=(trace/tests/python)
    mpi_tests=(trace/tests/mpi)
    typed_folders=(trace/python/plait)
    rest=(mpi-1 mpi-3 mpi-6 python-long hosts-2 tidy address fuzz thread)
    ;;
  historical)
    python_tests=(historical/tests/python)
    mpi_tests=(historical/tests/mpi)
    first=(build format style python mpi-2 mpi-4) # no C++ tests and no Python sources
    rest=(mpi-1 mpi-3 mpi-6 python-long hosts-2 tidy)
    ;;
  mpiio)
    python_tests=(mpiio/tests/python)
    typed_folders=(mpiio/python/plait)
    first=(build format types style python) # its tests start ranks themselves
    rest=(python-long tidy)
    ;;
  *) say "unknown product '$product'; expected array, trace, historical, mpiio or all" >&2; exit 2 ;;
esac
export PLAIT_PRODUCT="$product"

run() {
  case "$1" in
    build) scripts/build.sh --tests ;;
    format) scripts/format.sh --check ;;
    types)
      python -m mypy "${typed_folders[@]}"
      [[ "$product" != all ]] || python -m basedpyright examples/python tests/types
      ;;
    style) pytest -n "$plait_jobs" tests/style ;;
    cpp) release_tests "${selected[@]}" -LE more ;;
    cpp-ranks) release_tests "${selected[@]}" -L more ;;
    python) pytest_together -m "not long" "${python_tests[@]}" ;;
    python-long) pytest_together -m long "${python_tests[@]}" ;;
    mpi-*) on_ranks "${1#mpi-}" "${mpi_tests[@]}" ;;
    hosts-2) on_hosts 2 block 4 "${mpi_tests[@]}" ;;
    hosts-3) on_hosts 3 cyclic 6 $(find "${mpi_tests[@]}" -name 'test_*.py' | grep -E "$between_hosts" | sort) ;;
    install) pytest tests/install ;;
    conformance) scripts/conformance.sh ;;
    tidy) scripts/tidy.sh ;;
    address) sanitized address "${selected[@]}" -LE fuzz ;;
    fuzz) sanitized address "${selected[@]}" -L fuzz ;;
    thread) sanitized thread "${selected[@]}" ;;
  esac
}

case "${1:-}" in
  "") checks=("${first[@]}") ;;
  --rest) checks=("${rest[@]}") ;;
  --all) checks=("${first[@]}" "${rest[@]}") ;;
  --list) printf '%s\n' "${first[@]}" "${rest[@]}" "${extra[@]}"; exit 0 ;;
  *)
    checks=("$@")
    for name in "$@"; do
      [[ " ${first[*]} ${rest[*]} ${extra[*]} " == *" $name "* ]] ||
        { say "unknown check '$name'; expected some of: ${first[*]} ${rest[*]} ${extra[*]}" >&2; exit 2; }
    done
    ;;
esac
grep -qs ' all$' "$plait_private/setup.stamp" || { say "what tests need is not installed; run: make setup" >&2; exit 2; }
mkdir -p "$plait_log"

# Sets `processor` to the seconds of processor time that all commands so far have taken.
measure() {
  times >"$plait_log/times"
  processor=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$plait_log/times")
}

failed=()
table=""
for name in "${checks[@]}"; do
  log="$plait_log/test-$name.log"
  begin=$SECONDS
  measure
  before=$processor
  say "$name ..."
  set +e
  (set -e && run "$name") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  measure
  if ((status)); then
    tail -n 200 "$log"
    failed+=("$name")
  else
    grep -E '^(SKIPPED |[0-9]+ passed|[0-9]+% tests passed|.*\(Skipped\)|.*\(Not Run\))' "$log" || true
  fi
  result=$( ((status)) && echo FAILED || echo passed)
  table+=$(printf '%-13s%-8s%9d%11d' "$name" "$result" $((SECONDS - begin)) $((processor - before)))$'\n'
  say "$name: $result after $((SECONDS - begin)) s (log: .plait/log/test-$name.log)"
done
printf '\n%-13s%-8s%9s%11s\n%s%-21s%9d%11d\n' check result seconds processor "$table" all $SECONDS "$processor"
((${#failed[@]} == 0)) || say "failed: ${failed[*]}"
printf 'checks: %d passed, %d failed\n' $((${#checks[@]} - ${#failed[@]})) ${#failed[@]}
((${#failed[@]} == 0))
