#!/usr/bin/env bash
# Builds the documentation site into .plait/docs with Sphinx, and fails if a link or a page is broken.
#
# usage: scripts/docs.sh      after `make build`, because the Python reference is made from the installed modules
# The first run installs Sphinx and its extensions into .plait/env.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/env.sh"
cd "$plait_root"

take_lock
"$plait_env/bin/python" -c 'import furo, myst_parser, sphinx, sphinx_copybutton' 2>/dev/null || {
  say "installing Sphinx into .plait/env (log: .plait/log/docs.log)"
  "$plait_env/bin/python" scripts/requirements.py docs >"$plait_private/requirements-docs.txt"
  "$plait_env/bin/python" -m pip install -r "$plait_private/requirements-docs.txt" >"$plait_log/docs.log" 2>&1 ||
    { tail -n 20 "$plait_log/docs.log" >&2; exit 1; }
}
"$plait_env/bin/python" -m sphinx -q -W --keep-going -j "$plait_jobs" -c docs/site docs "$plait_private/docs"
say "the site begins at .plait/docs/index.html"
