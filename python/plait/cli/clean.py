"""`plait clean`: removes the parts of uploads that killed programs have left in object stores."""

from __future__ import annotations

import json
import re
import sys
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
  plait clean s3://bucket --all --older 7d
"""
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class _Age(ParamType):
    """A duration such as 90s, 30m, 12h or 7d."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the duration."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"(\d{1,6})([smhd]?)", str(value).strip())
        if match is None or (not match[2] and int(match[1])):
            self.fail(f"'{value}' is not an age such as 90s, 30m, 12h or 7d", param, ctx)
        return timedelta(**{_UNITS[match[2] or "s"]: int(match[1])})


class _Upload(NamedTuple):
    key: str
    id: str
    begun: str
    changed: str = ""
    """The time at which the newest part was stored; empty if it is unknown."""

    @property
    def age(self) -> timedelta:
        """The time since the upload was begun or changed, by the clock of this host.

        errors  ValueError: the server has stated no time in the form of ISO 8601
        """
        stated = re.sub(r"\.\d+", "", self.changed or self.begun)
        try:
            time = datetime.strptime(stated, "%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            raise ValueError(
                f"the server states the time {stated!r}; expected one such as 2026-11-30T08:15:00Z; choose --older 0"
            ) from None
        return datetime.now(timezone.utc) - time.replace(tzinfo=timezone.utc)


@click.command("clean", epilog=_EXAMPLES)
@click.argument("url")
@click.option(
    "--older",
    type=_Age(),
    default="1d",
    show_default=True,
    help="Only uploads whose newest part is at least this old; 0 for all.",
)
@click.option("--all", "permits_bucket", is_flag=True, help="Permit a URL without a key: all uploads of the bucket.")
@click.option("--dry-run", is_flag=True, help="Only list the uploads.")
@click.option("--json", "as_json", is_flag=True, help="Print the uploads as JSON.")
def clean_command(url: str, older: timedelta, permits_bucket: bool, dry_run: bool, as_json: bool) -> None:
    """Abort unfinished uploads of the object at URL, and of all objects below it.

    A program that is killed while it sends an object of more than 8 MiB leaves the parts that it has sent. No reader
    sees them, but they take space. The server does not say whether an upload still goes on: choose an age that is
    longer than the time between two parts. A program whose upload is aborted gets an error. Objects are never removed.
    """
    unfinished = _core.unfinished_uploads(url)
    if unfinished is None:
        reason = "its server does not list unfinished uploads" if "://" in url else "the name is no URL"
        raise UserError(f"{url}: {reason}; expected a URL of s3:// or gs://")
    if not permits_bucket and not _core.object_key(url):
        raise UserError(f"{url}: the URL has no key and stands for all uploads of the bucket; add --all, or a key")
    uploads = [_Upload(*upload) for upload in unfinished.list()]
    old: list[_Upload] = []
    young: list[_Upload] = []
    errors: list[str] = []
    for upload in uploads:
        try:
            upload_with_change = _add_last_change(unfinished, upload, older)
            if not older or upload_with_change.age >= older:
                if not dry_run:
                    unfinished.abort(upload.key, upload.id)
                old.append(upload_with_change)
            else:
                young.append(upload_with_change)
        except (OSError, ValueError) as error:
            errors.append(f"{upload.key}: {error}")
    if as_json:
        documents = {"old": _to_documents(old), "young": _to_documents(young)}
        print(json.dumps({"aborted": not dry_run, **documents, "errors": errors}))
    else:
        _print_result(old, len(young), dry_run)
    for text in errors:
        click.echo(f"Error: {text}", err=True)
    if errors:
        sys.exit(1)


def _add_last_change(unfinished: _core.UnfinishedUploads, upload: _Upload, older: timedelta) -> _Upload:
    """Return the upload with the time of its newest part; without asking the server if the time cannot matter."""
    if not older or upload.age < older:
        return upload
    return upload._replace(changed=unfinished.last_change(upload.key, upload.id))


def _print_result(old: list[_Upload], young: int, dry_run: bool) -> None:
    for upload in old:
        output().print(f"{upload.key}  begun {upload.begun}", soft_wrap=True, markup=False)
    outcome = "found, none aborted" if dry_run else "aborted"
    remark = f"; {young} younger ones are left" if young else ""
    output().print(
        f"{len(old)} unfinished {'upload' if len(old) == 1 else 'uploads'} {outcome}{remark}", soft_wrap=True
    )


def _to_documents(uploads: list[_Upload]) -> list[dict[str, str]]:
    return [{"key": upload.key, "id": upload.id, "begun": upload.begun} for upload in uploads]
