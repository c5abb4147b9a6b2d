"""Lists of objects, of unfinished uploads and of their parts, and completed uploads, for the server of s3_server.py."""

from __future__ import annotations

import hashlib
import re
import urllib.parse
from typing import Any
from xml.sax.saxutils import escape

Upload = tuple[str, dict[int, tuple[bytes, str]], str]
"""The key of an upload, its parts and their MD5s by their numbers, and the time when it was begun."""
Uploads = dict[str, Upload]
"""Uploads by their names."""


def object_list_xml(page: dict[str, tuple[bytes, str] | None], truncated: bool, *, plain: bool) -> str:
    """Return a page of a list of objects as XML.

    page   the content and the ETag of each object by its key; None for a common prefix
    plain  True to leave the keys unquoted
    """
    quoted = escape if plain else lambda name: urllib.parse.quote(name, safe="/-_.~")
    parts = ["<?xml version='1.0'?><ListBucketResult>", "" if plain else "<EncodingType>url</EncodingType>"]
    parts.append(f"<IsTruncated>{str(truncated).lower()}</IsTruncated>")
    if truncated:
        parts.append(f"<NextContinuationToken>{escape(list(page)[-1])}</NextContinuationToken>")
    for name, entry in page.items():
        if entry is None:
            parts.append(f"<CommonPrefixes><Prefix>{quoted(name)}</Prefix></CommonPrefixes>")
            continue
        content, tag = entry
        described = f"<Key>{quoted(name)}</Key><Size>{len(content)}</Size><ETag>&quot;{tag}&quot;</ETag>"
        parts.append(f"<Contents>{described}</Contents>")
    parts.append("</ListBucketResult>")
    return "".join(parts)


def upload_list_xml(key: str, query: str, uploads: Uploads, faults: dict[str, Any]) -> str | None:
    """Return a page of uploads or parts as XML, an empty text if there is no such upload, None for other queries."""
    parameters = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
    if "uploadId" in parameters:
        upload = uploads.get(parameters["uploadId"])
        return _part_list_xml(upload, parameters, faults) if upload is not None and upload[0] == key else ""
    return _list_uploads_xml(key.rstrip("/") + "/", parameters, uploads, faults) if "uploads" in parameters else None


def _part_list_xml(upload: Upload, parameters: dict[str, str], faults: dict[str, Any]) -> str:
    _, parts, begin_time = upload
    changed = faults["begun"] if faults["old_parts"] else begin_time
    numbers = sorted(number for number in parts if number > int(parameters.get("part-number-marker", 0)))
    entries = [
        f"<Part><PartNumber>{number}</PartNumber><ETag>&quot;{parts[number][1]}&quot;</ETag>"
        f"<Size>{len(parts[number][0])}</Size><LastModified>{changed}</LastModified></Part>"
        for number in numbers
    ]
    markers = [f"<NextPartNumberMarker>{number}</NextPartNumberMarker>" for number in numbers]
    return _page_xml("ListPartsResult", entries, markers, faults)


def _list_uploads_xml(bucket: str, parameters: dict[str, str], uploads: Uploads, faults: dict[str, Any]) -> str:
    after = (parameters.get("key-marker", ""), parameters.get("upload-id-marker", ""))
    names = sorted((key.removeprefix(bucket), name) for name, (key, _, _) in uploads.items() if key.startswith(bucket))
    prefix = parameters.get("prefix", "")
    names = [(key, name) for key, name in names if key.startswith(prefix) and (key, name) > after]
    if faults["exact_prefix"] and prefix:
        names = [(key, name) for key, name in names if key == prefix]
    quoted = [
        (urllib.parse.quote(name), escape(upload), faults["begun"] or uploads[upload][2]) for name, upload in names
    ]
    entries = [
        f"<Upload><Key>{name}</Key><UploadId>{upload}</UploadId><Initiated>{begin_time}</Initiated></Upload>"
        for name, upload, begin_time in quoted
    ]
    markers = [
        f"<NextKeyMarker>{name}</NextKeyMarker><NextUploadIdMarker>{upload}</NextUploadIdMarker>"
        for name, upload, _ in quoted
    ]
    return _page_xml("ListMultipartUploadsResult", entries, markers, faults, "<EncodingType>url</EncodingType>")


def _page_xml(name: str, entries: list[str], markers: list[str], faults: dict[str, Any], head: str = "") -> str:
    page = faults["page"]
    marker = markers[page - 1] if len(entries) > page else ""
    if entries and faults["marker"] != "right":
        marker = "" if faults["marker"] == "empty" else re.sub(">[^<]+<", ">1<", markers[0])
    truncated = bool(marker) or (bool(entries) and faults["marker"] == "empty")
    parts = [f"<{name}>{head}<IsTruncated>{str(truncated).lower()}</IsTruncated>", *entries[:page]]
    return "".join([*parts, marker, f"</{name}>"])


def join_parts(body: bytes, parts: dict[int, tuple[bytes, str]]) -> tuple[str, bytes, str]:
    """Join the parts that the body of a completion lists, and return (error code, content, ETag).

    As in S3, the parts must be in ascending order, and all but the last must have 5 MiB or more.
    """
    listed_parts = re.findall(r"<Part><PartNumber>(\d+)</PartNumber><ETag>\"(\w+)\"</ETag></Part>", body.decode())
    numbers = [int(number) for number, _ in listed_parts]
    if numbers != sorted(set(numbers)) or any(
        parts.get(int(number), (b"", ""))[1] != tag for number, tag in listed_parts
    ):
        return "InvalidPart", b"", ""
    if any(len(parts[number][0]) < 5 << 20 for number in numbers[:-1]):
        return "EntityTooSmall", b"", ""
    joined = hashlib.md5(b"".join(bytes.fromhex(parts[number][1]) for number in numbers)).hexdigest()
    return "", b"".join(parts[number][0] for number in numbers), f"{joined}-{len(numbers)}"


def replace_last_part(body: bytes, parts: dict[int, tuple[bytes, str]]) -> bytes:
    """Replace the bytes of the last part, and return the body of a completion that names them."""
    last = max(parts)
    content, old = parts[last]
    content = bytes(255 - byte for byte in content)
    parts[last] = (content, hashlib.md5(content).hexdigest())
    return body.replace(old.encode(), parts[last][1].encode())
