"""The faults that tests can switch on in s3_server.py (ObjectServer.set_faults), with their values when off."""

from __future__ import annotations

from typing import Any

REGION = "eu-test-1"
FAULTS: dict[str, Any] = {
    "slow_down": 0,  # number of requests that get 503
    "fail": 0,  # number of requests that get 500
    "reset": 0,  # number of requests whose connection is closed without an answer
    "truncate": 0,  # number of bodies that end early
    "stall": 0,  # number of bodies that stop for 5 seconds, and then end early
    "lose_answers": 0,  # number of puts that take effect, but whose connection is closed
    # another client completes an upload just before: with the `same` parts, or with `other` bytes in the last part
    "foreign_completion": "",
    "error_in_200": 0,  # number of puts that get status 200 and an error
    "ignore_ranges": False,  # reads of a range get the whole object
    "wrong_range": False,  # reads of a range get one that begins a byte later
    "ignore_create": False,  # puts ignore If-None-Match
    "ignore_match": False,  # puts ignore If-Match
    # status and code of reads of objects that do not exist; S3 answers 403 to users without the permission to list
    "absent": [404, "NoSuchKey"],
    "no_etag": False,  # answers have no ETag
    "weak_etag": False,  # ETags are weak: W/"..."
    "skew": 0,  # seconds by which the clock is ahead
    "region": REGION,  # region in which signatures are valid
    "page": 1000,  # keys in one page of a list
    "marker": "right",  # marker of the next page of uploads or parts: `right`, `empty`, or the `same` on each page
    "reject_lists": 0,  # status of lists of uploads and of their parts
    "exact_prefix": False,  # uploads are listed only if the prefix is their whole key, as by MinIO
    "opaque_tags": False,  # ETags of parts are no MD5s
    "begun": "",  # time of all uploads in lists
    "old_parts": False,  # parts have the time of `begun` as well
    "fail_aborts": 0,  # number of aborts that get 403
    "plain_keys": False,  # keys in lists are not URL-encoded, although the request has encoding-type
    "delay": 0.0,  # seconds before each answer
    "change_after": 0,  # the object changes after that many reads
    "grow": False,  # an object that is changed by `change_after` also gets a byte more, but keeps its time
    "new_tags": False,  # each read gets another ETag
    "conflict": 0,  # number of puts with a condition that get 409
    "fail_heads": 0,  # number of HEADs that get 403
    "fail_deletes": False,  # objects cannot be removed
    "content_length": 0,  # Content-Length of all bodies, whatever their real length; 0: the real length
}
