#!/usr/bin/env bash
# Formats the sources in the project's style; with --check it changes nothing, and fails if a file is not formatted.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

mapfile -t cpp_files < <(find include src bindings trace historical mpiio tests examples -name '*.[chi]pp' -o -name '*.inl' -o -name '*.[ch]' | sort)
case "${1:-}" in
  "")
    clang-format -i "${cpp_files[@]}"
    ruff check --quiet --fix-only .
    ruff format --quiet .
    ;;
  --check)
    failed=0
    clang-format --dry-run -Werror "${cpp_files[@]}" || failed=1
    ruff format --check . || failed=1
    ruff check . || failed=1
    exit "$failed"
    ;;
  *) say "unknown argument '$1'; expected --check or nothing" >&2; exit 2 ;;
esac
