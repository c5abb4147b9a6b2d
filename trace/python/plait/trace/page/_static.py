"""The static head of the page, with the conclusions, which readers see first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from plait.trace.page._words import amount, count_text, escape_html, escape_invisible, seconds, share
from plait.trace.recording.program import list_programs

Report = Mapping[str, Any]

# Maps the evidence that a conclusion may name to the section that shows it.
SECTIONS = {
    "timeline": "Rate over time",
    "cycles": "Cycles",
    "classes": "What the I/O is for",
    "sizes": "Request sizes",
    "order": "Order of requests",
    "files": "Files",
    "offsets": "Where in the files",
    "ranks": "Processes over time",
    "stragglers": "Stragglers",
    "processes": "Processes",
    "overlap": "I/O and computation",
    "calls": "Calls",
    "amplification": "Asked for and moved",
    "counters": "Counters",
    "tables": "Tables 1 and 2",
    "trace": "The trace",
}
_SECTION_ALIASES = {
    "table1": "tables",
    "table2": "tables",
    "coverage": "trace",
    "missed": "trace",
    "notes": "trace",
    "rate": "timeline",
    "rates": "timeline",
    "common": "sizes",
    "alignment": "sizes",
    "class": "classes",
    "rank": "ranks",
}
# The sections of a comparison; evidence without a section is shown in the first.
_COMPARISON_SECTIONS = {"rows": "What changed", "timeline": "Rate over time", "trace": "The traces"}
_SEVERITIES = {"high": ("▲", "High"), "medium": ("◆", "Medium"), "low": ("●", "Low"), "good": ("✓", "Good")}


def find_section(evidence: object) -> str | None:
    """Return the section of a conclusion's evidence, which is its key, its title or a path into the document."""
    text = str(evidence or "").strip().lower()
    for key, title in SECTIONS.items():
        if text == title.lower():
            return key
    words = text.replace(".", " ").replace("[", " ").replace("_", " ").split()
    for word in words:
        if word in SECTIONS or word in _SECTION_ALIASES:
            return _SECTION_ALIASES.get(word, word)
    return None


def program_name(report: Report) -> str:
    """Return the name of the script or the program, without its folder."""
    names = (report.get("trace") or {}).get("programs") or list_programs(report.get("processes") or [])
    if names:
        other_count = len(names) - 1
        return escape_invisible(names[0]) + (f" and {count_text(other_count, 'other program')}" if other_count else "")
    path = str(report.get("trace", {}).get("path") or "")
    return escape_invisible(PurePosixPath(path).name) or "A program"


def report_parts(report: Report) -> dict[str, str]:
    """Return the header and the conclusions of a report's page as HTML."""
    trace = report.get("trace") or {}
    header = [
        f"<h1>{escape_html(program_name(report))}</h1>",
        f'<p class="lead">{_summary(report)}</p>',
        _trace_line(report, trace),
    ]
    header.append(_coverage_paragraph(trace))
    left_out = report.get("left_out") or {}
    if left_out.get("calls"):
        header.append(f'<p class="left-out">{escape_html(left_out["text"])}</p>')
    gains = report.get("gains")
    gains_text = f'\n<p class="quiet">{escape_html(gains["text"])}</p>' if gains else ""
    return {"header": "\n".join(header), "main": _conclusion_list(report.get("conclusions") or []) + gains_text}


def _summary(report: Report) -> str:
    """Return one or two sentences about what the program did."""
    trace, table1, overlap = (report.get(key) or {} for key in ("trace", "table1", "overlap"))
    wall = trace.get("wall_seconds")
    processes, files = len(report.get("processes") or []), len(report.get("files") or [])
    processes += (report.get("processes_left_out") or {}).get("processes", 0)
    files += (report.get("files_left_out") or {}).get("files", 0)
    if not table1.get("ios"):
        return escape_html(f"No reads or writes in {seconds(wall)}." if wall else "No reads or writes were recorded.")
    counters = report.get("counters") or {}
    only_counters = bool(counters) and not trace.get("events")
    if only_counters:
        read, written = (counters["totals"][key] for key in ("read_bytes", "write_bytes"))
        processes = counters["processes"] or processes
        files = len({row["name"] for row in counters["files"]}) + counters["files_left_out"]
    else:
        timeline = report.get("timeline") or {}
        read, written = (sum(timeline.get(key) or [0]) for key in ("read_bytes", "write_bytes"))
    transfers = [
        text for text in (f"read {amount(read)}" if read else "", f"wrote {amount(written)}" if written else "") if text
    ]
    subject = count_text(processes, "process") if processes else "The program"
    duration = f" in {seconds(wall)}" if wall else ""
    text = (
        f"{subject} {' and '.join(transfers) or 'moved nothing'}{duration}, with "
        f"{count_text(table1['ios'], 'request')} of {amount(table1.get('mean_io_bytes'))} on average, "
        f"in {count_text(files, 'file')}."
    )
    if only_counters:
        return escape_html(text + " This is from counters: no single call was traced.")
    process_time = (overlap.get("io_seconds") or 0) + (overlap.get("compute_seconds") or 0)
    if process_time and overlap.get("waiting_seconds") is not None:
        text += f" It waited for I/O in {share(min(1.0, overlap['waiting_seconds'] / process_time))} of its time."
    return escape_html(text)


def _trace_line(report: Report, trace: Report) -> str:
    hosts = {process.get("host") for process in report.get("processes") or [] if process.get("host")}
    parts = [
        f'<bdi class="name">{escape_html(trace.get("path") or "")}</bdi>',
        f"{escape_html(trace.get('format') or '')} trace",
    ]
    if trace.get("zero"):
        parts.append(f"begun {escape_html(trace['zero'])}")
    if hosts:
        name = hosts.pop() if len(hosts) == 1 else count_text(len(hosts), "host")
        parts.append(f"on {escape_html(name)}")
    return f'<p class="source">{", ".join(parts)}</p>'


def _coverage_paragraph(trace: Report) -> str:
    """Return the coverage of the trace, the first paragraph of the page."""
    coverage = trace.get("coverage") or {}
    covered_share = coverage.get("share")
    is_complete = covered_share is not None and covered_share >= 1 and trace.get("complete", True)
    mark, name = ("✓", "complete") if is_complete else ("?", "unknown") if covered_share is None else ("!", "partial")
    text = coverage.get("text") or (
        f"The trace covers {share(covered_share)} of the bytes."
        if covered_share is not None
        else "Coverage is not known."
    )
    return (
        f'<p class="coverage {name}"><span class="mark" aria-hidden="true">{mark}</span> '
        f'{escape_html(text)} <a href="#trace">The trace</a></p>'
    )


def _conclusion_list(conclusions: Sequence[Report], sections: Mapping[str, str] = SECTIONS) -> str:
    begin = '<section id="conclusions" aria-labelledby="conclusions-title" tabindex="-1">'
    if not conclusions:
        return f'{begin}<h2 id="conclusions-title">Conclusions</h2><p>Nothing stands out in this trace.</p></section>'
    items = "\n".join(_conclusion_item(conclusion, sections) for conclusion in conclusions)
    return f'{begin}<h2 id="conclusions-title">Conclusions</h2>\n<ol class="conclusions">\n{items}\n</ol></section>'


def _conclusion_item(conclusion: Report, sections: Mapping[str, str]) -> str:
    severity = str(conclusion.get("severity") or "low")
    mark, word = _SEVERITIES.get(severity, _SEVERITIES["low"])
    css_class = severity if severity in _SEVERITIES else "low"
    arrow = '<span aria-hidden="true">→</span><span class="unseen">Advice: </span>'
    advice = f'<p class="advice">{arrow}{escape_html(conclusion["advice"])}</p>' if conclusion.get("advice") else ""
    gain = conclusion.get("gain")
    if gain:
        advice += f'<p class="gain">{escape_html(gain["text"])}</p>'
    section = find_section(conclusion.get("evidence"))
    if section is not None and section not in sections:
        section = next(iter(sections))
    evidence_link = (
        f'<p class="evidence" data-evidence="{section}"><a href="#{section}">{escape_html(sections[section])}</a></p>'
        if section
        else ""
    )
    return (
        f'<li class="conclusion {css_class}"><div class="claim"><h3><span class="severity"><span aria-hidden="true">'
        f"{mark}</span> {word}</span> {escape_html(conclusion.get('title') or '')}</h3>"
        f"<p>{escape_html(_capitalize(conclusion.get('text')))}</p>{advice}</div>{evidence_link}</li>"
    )


def _capitalize(text: object) -> str:
    sentence = str(text or "")
    return sentence[:1].upper() + sentence[1:]


def comparison_parts(comparison: Report) -> dict[str, str]:
    """Return the header and the conclusions of a comparison's page as HTML."""
    sides = [comparison.get(side) or {} for side in "ab"]
    side_names = "".join(
        f'<div><dt>{letter}</dt><dd><bdi class="name">{escape_html(side.get("path") or "")}</bdi>, '
        f"{seconds(side.get('wall_seconds'))}{_short_coverage(side)}</dd></div>"
        for letter, side in zip("AB", sides, strict=True)
    )
    return {
        "header": f'<h1>Two traces compared</h1>\n<dl class="sides">{side_names}</dl>',
        "main": _conclusion_list(comparison.get("conclusions") or [], _COMPARISON_SECTIONS),
    }


def _short_coverage(side: Report) -> str:
    coverage = side.get("coverage") or {}
    return f". {escape_html(coverage['text'])}" if coverage.get("text") else ""
