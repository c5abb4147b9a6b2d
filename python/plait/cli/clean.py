"""`plait clean`: removes the parts of uploads that killed programs have left in object stores."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from plait import _core
from plait.cli.support import UserError, output

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # takes no type before click 8.4

_EXAMPLES = """
\b
Examples:
  plait clean s3://bucket/runs --dry-run
  plait clean s3://bucket/runs
  plait clean s3://bucket/runs/copy.nc --older 0
"""
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class _Age(ParamType):
    """A duration such as 90s, 30m, 12h or 7d."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the duration."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"(\d{1,6})([smhd]?)", str(value).strip())
        if found is None or (not found[2] and int(found[1])):
            self.fail(f"'{value}' is not an age such as 90s, 30m, 12h or 7d", param, ctx)
        return timedelta(**{_UNITS[found[2] or "s"]: int(found[1])})


class _Upload(NamedTuple):
    key: str
    id: str
    begun: str

    @property
    def age(self) -> timedelta:
        """The time since it was begun, by the clock of this host."""
        begun = datetime.strptime(re.sub(r"\.\d+", "", self.begun), "%Y-%m-%dT%H:%M:%SZ")
        return datetime.now(timezone.utc) - begun.replace(tzinfo=timezone.utc)


@click.command("clean", epilog=_EXAMPLES)
@click.argument("url")
@click.option(
    "--older", type=_Age(), default="1d", show_default=True, help="Only uploads begun at least so long ago; 0 for all."
)
@click.option("--dry-run", is_flag=True, help="Only list the uploads.")
@click.option("--json", "as_json", is_flag=True, help="Print the uploads as JSON.")
def clean_command(url: str, older: timedelta, dry_run: bool, as_json: bool) -> None:
    """Abort unfinished uploads of the object at URL, and of all objects below it.

    A program that is killed while it sends an object of more than 8 MiB leaves the parts that it has sent. No reader
    sees them, but they take space. The server does not say whether an upload still goes on: choose an age that is
    longer than any upload takes. A program whose upload is aborted gets an error. Objects are never removed.
    """
    if not _core.lists_uploads(url):
        raise UserError(f"{url}: its server does not list unfinished uploads; expected a URL of s3:// or gs://")
    uploads = [_Upload(*found) for found in _core.unfinished_uploads(url)]
    old = [upload for upload in uploads if not older or upload.age >= older]
    for upload in old if not dry_run else []:
        _core.abort_upload(url, upload.key, upload.id)
    if as_json:
        young = [upload for upload in uploads if upload not in old]
        print(json.dumps({"aborted": not dry_run, "old": _documents(old), "young": _documents(young)}))
        return
    for upload in old:
        output().print(f"{upload.key}  begun {upload.begun}", soft_wrap=True, markup=False)
    done = "found, none aborted" if dry_run else "aborted"
    rest = f"; {len(uploads) - len(old)} younger ones are left" if len(uploads) > len(old) else ""
    output().print(f"{len(old)} unfinished {'upload' if len(old) == 1 else 'uploads'} {done}{rest}", soft_wrap=True)


def _documents(uploads: list[_Upload]) -> list[dict[str, str]]:
    return [{"key": upload.key, "id": upload.id, "begun": upload.begun} for upload in uploads]
