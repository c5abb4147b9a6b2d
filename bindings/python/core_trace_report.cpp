// What a trace means, as lists and dictionaries of Python: what docs/reference/trace-report.md describes, but for the
// parts that plait.trace.analysis adds in words.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bind.hpp"
#include "string.hpp"
#include "trace/report/analysis.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

using namespace trace::report;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

nb::object seconds_or_none(std::int64_t ns) { return ns < 0 ? nb::none() : nb::cast(seconds(ns)); }

/// File names are bytes; those that are no UTF-8 become what os.fsdecode makes of them.
nb::object text(const std::string& bytes) {
  PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal(decoded);
}

const char* name_of(trace::Kind kind) {
  constexpr const char* kNames[] = {"read", "write", "open",     "close", "seek", "truncate", "sync", "duplicate",
                                    "map",  "unmap", "metadata", "start", "fork", "exec",     "exit", "phase"};
  return kNames[static_cast<std::size_t>(kind) & 15];
}

const char* name_of(trace::Interface interface) {
  constexpr const char* kNames[] = {"unknown",   "posix", "vector", "stdio", "mmap",  "copy",  "aio",
                                    "posix-aio", "uring", "mpi-io", "plait", "block", "loader"};
  const auto at = static_cast<std::size_t>(interface);
  return at < std::size(kNames) ? kNames[at] : "unknown";
}

const char* name_of(Class what) {
  constexpr const char* kNames[kClasses] = {"required", "checkpoint", "swapping", "other"};
  return kNames[static_cast<std::size_t>(what)];
}

const char* way_of(int direction) { return direction == kReads ? "read" : "write"; }

template <typename Values>
nb::list list(const Values& values) {
  nb::list result;
  for (const auto& value : values) result.append(value);
  return result;
}

/// Row by row.
nb::list matrix(const std::vector<std::int64_t>& values, std::size_t columns, double factor) {
  nb::list rows;
  for (std::size_t at = 0; at < values.size(); at += columns) {
    nb::list row;
    for (std::size_t column = 0; column < columns; ++column) {
      if (factor == 1.0) {
        row.append(values[at + column]);
      } else {
        row.append(static_cast<double>(values[at + column]) * factor);
      }
    }
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict order(const Order& order) {
  nb::dict result;
  const auto all = static_cast<double>(order.count());
  const auto share = [&](std::int64_t count) { return all > 0 ? static_cast<double>(count) / all : 0.0; };
  result["consecutive"] = share(order.consecutive);
  result["sequential"] = share(order.sequential);
  // The rest, so that the three make one.
  result["random"] = order.random == 0 ? 0.0 : 1.0 - share(order.consecutive) - share(order.sequential);
  result["count"] = order.count();
  return result;
}

void add_traffic(nb::dict& row, const std::array<Traffic, 2>& data) {
  row["read_bytes"] = data[kReads].bytes;
  row["write_bytes"] = data[kWrites].bytes;
  row["reads"] = data[kReads].count;
  row["writes"] = data[kWrites].count;
}

nb::dict description(const trace::Description& known) {
  nb::list missed;
  for (const trace::Missed& one : known.missed) {
    nb::dict row;
    row["reason"] = text(one.reason);
    row["events"] = one.events;
    row["read_bytes"] = one.read_bytes;
    row["written_bytes"] = one.written_bytes;
    missed.append(std::move(row));
  }
  nb::list notes;
  for (const std::string& note : known.notes) notes.append(text(note));
  nb::dict result;
  result["format"] = text(known.format);
  result["zero"] = known.zero;
  result["tick_ns"] = known.tick;
  result["complete"] = known.complete;
  result["missed"] = std::move(missed);
  result["notes"] = std::move(notes);
  return result;
}

nb::dict totals(const Report& report) {
  const Totals& sums = report.totals;
  nb::dict result;
  result["events"] = sums.events;
  result["wall_seconds"] = seconds(sums.wall);
  result["cpu_seconds"] = seconds_or_none(sums.cpu);
  add_traffic(result, sums.data);
  result["data_bytes"] = report.data_bytes;
  result["asynchronous_bytes"] = sums.asynchronous_bytes;
  result["small"] = sums.small;
  result["small_seconds"] = seconds(sums.small_time);
  result["data_seconds"] = seconds(sums.data_time);
  nb::dict alignment;
  alignment["block"] = kAlignment;
  for (const int way : {kReads, kWrites}) {
    nb::dict side;
    side["unaligned"] = sums.unaligned[static_cast<std::size_t>(way)];
    side["count"] = sums.positioned[static_cast<std::size_t>(way)];
    alignment[way_of(way)] = std::move(side);
  }
  result["alignment"] = std::move(alignment);
  return result;
}

nb::list calls(const Report& report) {
  nb::list rows;
  for (const CallRow& call : report.calls) {
    nb::dict row;
    row["kind"] = name_of(call.kind);
    row["interface"] = name_of(call.interface);
    row["count"] = call.count;
    row["failed"] = call.failed;
    row["seconds"] = seconds(call.time);
    row["bytes"] = call.bytes;
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict sizes(const Report& report) {
  nb::dict result;
  for (const int way : {kReads, kWrites}) {
    nb::list rows;
    for (const SizeBin& bin : report.sizes[static_cast<std::size_t>(way)]) {
      nb::dict row;
      row["from"] = bin.from;
      row["to"] = bin.to;
      row["count"] = bin.traffic.count;
      row["bytes"] = bin.traffic.bytes;
      rows.append(std::move(row));
    }
    result[way_of(way)] = std::move(rows);
  }
  nb::list common;
  const auto all = static_cast<double>(report.totals.data[kReads].count + report.totals.data[kWrites].count);
  for (const CommonSize& size : report.common) {
    nb::dict row;
    row["bytes"] = size.bytes;
    row["kind"] = way_of(size.direction);
    row["count"] = size.count;
    row["share"] = static_cast<double>(size.count) / all;
    common.append(std::move(row));
  }
  result["common"] = std::move(common);
  return result;
}

nb::list processes(const Report& report) {
  nb::list rows;
  for (const ProcessRow& process : report.processes) {
    nb::dict row;
    row["number"] = process.process.number;
    row["rank"] = process.process.rank;
    row["host"] = text(process.process.host);
    row["command"] = text(process.process.command);
    row["begin"] = seconds(process.begin);
    row["end"] = seconds(process.end);
    row["cpu_seconds"] = seconds_or_none(process.cpu);
    add_traffic(row, process.data);
    row["opens"] = process.opens;
    row["io_seconds"] = seconds(process.io);
    row["waiting_seconds"] = seconds(process.waited);
    row["hidden_seconds"] = seconds_or_none(process.hidden);
    row["files"] = process.files;
    rows.append(std::move(row));
  }
  return rows;
}

nb::list files(const Report& report) {
  nb::list rows;
  for (const FileRow& file : report.files) {
    nb::dict row;
    row["name"] = text(file.name);
    add_traffic(row, file.data);
    row["opens"] = file.opens;
    row["processes"] = file.processes;
    row["begin"] = seconds(file.begin);
    row["end"] = seconds(file.end);
    row["extent"] = file.extent;
    row["class"] = name_of(file.what);
    nb::dict orders;
    for (const int way : {kReads, kWrites}) orders[way_of(way)] = order(file.order[static_cast<std::size_t>(way)]);
    row["order"] = std::move(orders);
    const auto mean = [](const Traffic& sum) { return sum.count > 0 ? nb::cast(sum.bytes / sum.count) : nb::none(); };
    row["mean_read"] = mean(file.data[kReads]);
    row["mean_write"] = mean(file.data[kWrites]);
    row["read_back_bytes"] = file.read_back;
    row["rewrites"] = file.rewrites;
    row["alternations"] = file.alternations;
    row["pattern"] = file.group.empty() ? nb::none() : text(file.group);
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict timeline(const Report& report) {
  const Timeline& line = report.timeline;
  nb::dict result;
  result["begin"] = 0;
  result["width"] = seconds(line.width);
  result["read_bytes"] = list(line.bytes[kReads]);
  result["write_bytes"] = list(line.bytes[kWrites]);
  result["reads"] = list(line.counts[kReads]);
  result["writes"] = list(line.counts[kWrites]);
  result["busy"] = list(line.busy);
  result["clock"] = line.cpu ? "cpu" : "wall";
  return result;
}

nb::list cycles(const Report& report) {
  nb::list rows;
  for (const Cycle& cycle : report.cycles) {
    nb::dict row;
    row["period_seconds"] = cycle.period * 1e-9;
    row["strength"] = cycle.strength;
    row["regularity"] = cycle.regularity;
    row["count"] = cycle.count;
    row["first"] = cycle.first * 1e-9;
    row["last"] = cycle.last * 1e-9;
    row["what"] = text(cycle.what);
    row["bytes_per_cycle"] = static_cast<std::int64_t>(cycle.bytes + 0.5);
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict classes(const Report& report) {
  nb::dict result;
  for (int at = 0; at < kClasses; ++at) {
    nb::dict row;
    row["bytes"] = report.classes[static_cast<std::size_t>(at)].bytes;
    row["count"] = report.classes[static_cast<std::size_t>(at)].files;
    result[name_of(static_cast<Class>(at))] = std::move(row);
  }
  return result;
}

nb::dict ranks(const Report& report) {
  const Ranks& known = report.ranks;
  nb::list rows;
  for (const std::uint32_t index : known.rows) {
    const trace::Process& process = report.processes[index].process;
    nb::dict row;
    row["process"] = process.number;
    row["rank"] = process.rank;
    rows.append(std::move(row));
  }
  nb::dict result;
  result["rows"] = std::move(rows);
  result["merged"] = known.merged;
  result["columns"] = known.columns;
  result["width"] = seconds(known.width);
  const auto columns = static_cast<std::size_t>(known.columns);
  result["bytes"] = matrix(known.bytes, columns, 1.0);
  result["seconds"] = matrix(known.times, columns, 1e-9);
  return result;
}

nb::list offsets(const Report& report) {
  nb::list pictures;
  for (const Offsets& known : report.offsets) {
    nb::dict picture;
    picture["file"] = text(known.file);
    picture["since"] = seconds(known.since);
    picture["width"] = seconds(known.width);
    picture["height"] = known.height;
    picture["columns"] = known.columns;
    picture["rows"] = known.rows;
    for (const int way : {kReads, kWrites})
      picture[way_of(way)] =
          matrix(known.bytes[static_cast<std::size_t>(way)], static_cast<std::size_t>(known.columns), 1.0);
    pictures.append(std::move(picture));
  }
  return pictures;
}

nb::dict document(const Report& report) {
  nb::dict result;
  result["description"] = description(report.description);
  result["level"] = report.logical ? "logical" : "physical";
  result["clock"] = report.cpu_clock ? "cpu" : "wall";
  result["totals"] = totals(report);
  result["calls"] = calls(report);
  result["sizes"] = sizes(report);
  nb::dict orders;
  for (const int way : {kReads, kWrites})
    orders[way_of(way)] = order(report.totals.order[static_cast<std::size_t>(way)]);
  result["order"] = std::move(orders);
  result["processes"] = processes(report);
  result["files"] = files(report);
  result["files_in_all"] = report.files_in_all;
  nb::dict left_out;
  left_out["files"] = report.files_left_out.files;
  left_out["bytes"] = report.files_left_out.bytes;
  result["files_left_out"] = std::move(left_out);
  result["timeline"] = timeline(report);
  result["cycles"] = cycles(report);
  result["classes"] = classes(report);
  result["ranks"] = ranks(report);
  result["offsets"] = offsets(report);
  result["amplification"] = nb::none();
  if (report.amplification) {
    nb::dict both;
    both["logical_bytes"] = report.amplification->logical;
    both["physical_bytes"] = report.amplification->physical;
    both["joined"] = report.amplification->joined;
    result["amplification"] = std::move(both);
  }
  nb::list notes;
  for (const std::string& note : report.notes) notes.append(text(note));
  result["notes"] = std::move(notes);
  return result;
}

nb::dict analyse(const nb::str& path, const std::string& format, int base, const std::string& separator,
                 const std::string& comment, std::int64_t tick, std::int64_t block, std::optional<bool> logical,
                 std::optional<bool> cpu, const nb::str& file, std::optional<std::uint32_t> process,
                 nb::object progress) {
  trace::ReadOptions reading;
  reading.format = format;
  reading.base = base;
  reading.separator = separator.empty() ? '\0' : separator.front();
  reading.comment = comment;
  reading.tick = tick;
  reading.block = block;
  Options options;
  options.logical = logical;
  options.cpu = cpu;
  options.file = bytes_of(file);
  options.process = process;
  options.progress = [&](std::int64_t read, std::int64_t all) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(read, all);
  };
  const std::string name = bytes_of(path);
  Report report;
  {
    const nb::gil_scoped_release released;
    const auto reader = trace::open_trace(name, reading);
    report = trace::report::analyse(*reader, options);
  }
  return document(report);
}

}  // namespace

void bind_trace_report(nb::module_& module) {
  module.def("trace_report", &analyse, "path"_a, nb::kw_only(), "format"_a = "", "base"_a = 0, "separator"_a = "",
             "comment"_a = "", "tick"_a = 0, "block"_a = 512, "logical"_a = nb::none(), "cpu"_a = nb::none(),
             "file"_a = "", "process"_a = nb::none(), "progress"_a = nb::none());
}

}  // namespace plait::python
