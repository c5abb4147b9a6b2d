#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy on the C++ sources of the libraries and bindings.
#
# usage: scripts/tidy.sh [BUILD_TREE]      the release build by default
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"
units="$plait_private/tidy"
mkdir -p "$units"
# Selects each translation unit of Plait once, without tests, sources of other projects, and the second build for 8-byte
# Fortran integers.
python3 - "${1:-$plait_release}/compile_commands.json" >"$units/compile_commands.json" <<'EOF'
import json, re, sys
target = re.compile(r"CMakeFiles/(?!nanobind|\w*(?:test|fuzz|bench|_i8))\w+\.dir/")
units = json.load(open(sys.argv[1]))
units = [unit for unit in units if re.search(r"\.c(pp|xx)$", unit["file"]) and target.search(unit["output"])]
json.dump(units, sys.stdout, indent=1)
EOF
# GCC's headers are searched last; they include ISO_Fortran_binding.h, which Clang lacks.
sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$units/compile_commands.json" |
  xargs -P "$plait_jobs" -n 1 clang-tidy --quiet --experimental-custom-checks -p "$units" \
    --extra-arg=-idirafter"$(gcc -print-file-name=include)" || { say "clang-tidy found the above" >&2; exit 1; }
