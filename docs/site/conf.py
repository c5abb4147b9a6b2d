"""Settings of Sphinx for the documentation site, which scripts/docs.sh builds from the pages of docs/."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Plait"
author = "the Plait developers"
project_copyright = "the Plait developers, Apache-2.0"
version = release = SETTINGS["version"]

sys.path.insert(0, str(Path(__file__).parent))
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "docstrings"]
root_doc = "index"
source_suffix = {".md": "markdown"}
exclude_patterns = ["site/static"]
# The names of types in signatures are also NumPy's and mpi4py's, and parameters are called as attributes are: only
# links that pages make themselves are checked.
suppress_warnings = ["ref.python"]

# Anchors as the editors and hosts that show the pages as plain Markdown make them.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autoclass_content = "class"

html_theme = "furo"
html_title = f"Plait {version}"
html_static_path = ["static"]
html_css_files = ["plait.css"]
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
html_show_sourcelink = False

# Only what is typed is copied from a block of a terminal.
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

# Fortran's include file and shell sessions have names of their own here.
highlight_language = "none"
