// A report as lists and dictionaries of Python. docs/reference/trace-report.md describes them; plait.trace.analysis
// adds the texts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bind.hpp"
#include "described.hpp"
#include "gil_release.hpp"
#include "module.hpp"
#include "report.hpp"
#include "string.hpp"
#include "trace/report/analysis.hpp"
#include "trace/report/filter.hpp"
#include "trace/words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

using namespace trace::report;
using namespace reports;

namespace {

nb::object seconds_or_none(std::int64_t ns) { return ns < 0 ? nb::none() : nb::cast(seconds(ns)); }

const char* class_name(Class file_class) {
  constexpr const char* kNames[kClasses] = {"required", "checkpoint", "swapping", "other"};
  return kNames[static_cast<std::size_t>(file_class)];
}

nb::dict order_to_dict(const Order& order) {
  nb::dict result;
  const auto all = static_cast<double>(order.count());
  const auto share = [&](std::int64_t count) { return all > 0 ? static_cast<double>(count) / all : 0.0; };
  result["consecutive"] = share(order.consecutive);
  result["sequential"] = share(order.sequential);
  // Compute the remainder, so that the three shares sum to 1.
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

nb::dict totals_to_dict(const Report& report) {
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
  result["unaligned_seconds"] = seconds(sums.unaligned_time);
  nb::dict random;
  for (const int direction : {kReads, kWrites})
    random[direction_name(direction)] = seconds(sums.random_time[static_cast<std::size_t>(direction)]);
  result["random_seconds"] = std::move(random);
  nb::dict alignment;
  alignment["block"] = kAlignment;
  for (const int direction : {kReads, kWrites}) {
    nb::dict side;
    side["unaligned"] = sums.unaligned[static_cast<std::size_t>(direction)];
    side["count"] = sums.positioned[static_cast<std::size_t>(direction)];
    alignment[direction_name(direction)] = std::move(side);
  }
  result["alignment"] = std::move(alignment);
  return result;
}

nb::list calls_to_list(const Report& report) {
  nb::list rows;
  for (const CallRow& call : report.calls) {
    nb::dict row;
    row["kind"] = to_str(trace::kind_word(call.kind));
    row["interface"] = to_str(trace::interface_word(call.interface));
    row["count"] = call.count;
    row["failed"] = call.failed;
    row["seconds"] = seconds(call.time);
    row["failed_seconds"] = seconds(call.failed_time);
    row["bytes"] = call.bytes;
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict sizes_to_dict(const Report& report) {
  nb::dict result;
  for (const int direction : {kReads, kWrites}) {
    nb::list rows;
    for (const SizeBin& bin : report.sizes[static_cast<std::size_t>(direction)]) {
      nb::dict row;
      row["from"] = bin.from;
      row["to"] = bin.to;
      row["count"] = bin.traffic.count;
      row["bytes"] = bin.traffic.bytes;
      rows.append(std::move(row));
    }
    result[direction_name(direction)] = std::move(rows);
  }
  nb::list common;
  const auto all = static_cast<double>(report.totals.data[kReads].count + report.totals.data[kWrites].count);
  for (const CommonSize& size : report.common) {
    nb::dict row;
    row["bytes"] = size.bytes;
    row["kind"] = direction_name(size.direction);
    row["count"] = size.count;
    row["share"] = static_cast<double>(size.count) / all;
    common.append(std::move(row));
  }
  result["common"] = std::move(common);
  return result;
}

nb::list processes_to_list(const Report& report) {
  nb::list rows;
  for (const ProcessRow& process : report.processes) {
    nb::dict row;
    row["number"] = process.process.number;
    row["rank"] = process.process.rank;
    row["host"] = to_text(process.process.host);
    row["command"] = to_text(process.process.command);
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

nb::list files_to_list(const Report& report) {
  nb::list rows;
  for (const FileRow& file : report.files) {
    nb::dict row;
    row["name"] = to_text(file.name);
    add_traffic(row, file.data);
    row["read_seconds"] = seconds(file.time[kReads]);
    row["write_seconds"] = seconds(file.time[kWrites]);
    row["opens"] = file.opens;
    row["processes"] = file.processes;
    row["begin"] = seconds(file.begin);
    row["end"] = seconds(file.end);
    row["extent"] = file.extent;
    row["class"] = class_name(file.what);
    nb::dict orders;
    for (const int direction : {kReads, kWrites})
      orders[direction_name(direction)] = order_to_dict(file.order[static_cast<std::size_t>(direction)]);
    row["order"] = std::move(orders);
    const auto mean = [](const Traffic& sum) { return sum.count > 0 ? nb::cast(sum.bytes / sum.count) : nb::none(); };
    row["mean_read"] = mean(file.data[kReads]);
    row["mean_write"] = mean(file.data[kWrites]);
    row["read_back_bytes"] = file.read_back;
    row["rewrites"] = file.rewrites;
    row["alternations"] = file.alternations;
    row["pattern"] = file.group.empty() ? nb::none() : to_text(file.group);
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict classes_to_dict(const Report& report) {
  nb::dict result;
  for (int at = 0; at < kClasses; ++at) {
    nb::dict row;
    row["bytes"] = report.classes[static_cast<std::size_t>(at)].bytes;
    row["count"] = report.classes[static_cast<std::size_t>(at)].files;
    row["seconds"] = seconds(report.classes[static_cast<std::size_t>(at)].time);
    result[class_name(static_cast<Class>(at))] = std::move(row);
  }
  return result;
}

nb::list left_out_to_list(const Report& report) {
  nb::list rows;
  for (const LeftOutRow& left_out : report.left_out) {
    nb::dict row;
    row["what"] = std::string(left_out.what);
    row["files"] = left_out.files;
    row["calls"] = left_out.calls;
    row["seconds"] = seconds(left_out.time);
    add_traffic(row, left_out.data);
    row["maps"] = left_out.maps;
    row["mapped_read_bytes"] = left_out.mapped[kReads];
    row["mapped_write_bytes"] = left_out.mapped[kWrites];
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict make_document(const Report& report) {
  nb::dict result;
  result["description"] = describe_trace(report.description);
  result["level"] = report.logical ? "logical" : "physical";
  result["clock"] = report.cpu_clock ? "cpu" : "wall";
  result["totals"] = totals_to_dict(report);
  result["calls"] = calls_to_list(report);
  result["sizes"] = sizes_to_dict(report);
  nb::dict orders;
  for (const int direction : {kReads, kWrites})
    orders[direction_name(direction)] = order_to_dict(report.totals.order[static_cast<std::size_t>(direction)]);
  result["order"] = std::move(orders);
  result["processes"] = processes_to_list(report);
  result["files"] = files_to_list(report);
  result["files_in_all"] = report.files_in_all;
  nb::dict lightest;
  lightest["files"] = report.files_left_out.files;
  lightest["bytes"] = report.files_left_out.bytes;
  result["files_left_out"] = std::move(lightest);
  result["left_out"] = left_out_to_list(report);
  result["timeline"] = timeline_to_dict(report);
  result["cycles"] = cycles_to_list(report);
  result["classes"] = classes_to_dict(report);
  result["ranks"] = ranks_to_dict(report);
  result["offsets"] = offsets_to_list(report);
  result["amplification"] = nb::none();
  if (report.amplification) {
    nb::dict both;
    both["logical_bytes"] = report.amplification->logical;
    both["physical_bytes"] = report.amplification->physical;
    both["joined"] = report.amplification->joined;
    result["amplification"] = std::move(both);
  }
  nb::list notes;
  for (const std::string& note : report.notes) notes.append(to_text(note));
  result["notes"] = std::move(notes);
  return result;
}

nb::dict analyse(const nb::str& path, const std::string& format, int base, const std::string& separator,
                 const std::string& comment, std::int64_t tick, std::int64_t block, const nb::str& shown,
                 std::optional<bool> logical, bool cpu, const nb::str& file, const std::vector<nb::str>& include,
                 const std::vector<nb::str>& exclude, bool everything, std::optional<std::uint32_t> process,
                 nb::object progress) {
  trace::ReadOptions reading;
  reading.format = format;
  reading.base = base;
  reading.separator = separator.empty() ? '\0' : separator.front();
  reading.comment = comment;
  reading.tick = tick;
  reading.block = block;
  reading.shown = to_bytes(shown);
  Options options;
  options.logical = logical;
  options.cpu = cpu;
  options.file = to_bytes(file);
  for (const nb::str& pattern : include) options.include.push_back(to_bytes(pattern));
  for (const nb::str& pattern : exclude) options.exclude.push_back(to_bytes(pattern));
  options.all = everything;
  options.process = process;
  options.progress = [&](std::int64_t read, std::int64_t all) {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(read, all);
  };
  const std::string name = to_bytes(path);
  Report report;
  {
    const GilRelease released;
    const auto reader = trace::open_trace(name, reading);
    report = trace::report::analyse(*reader, options);
  }
  return make_document(report);
}

}  // namespace

void bind_reports(nb::module_& module) {
  module.def(
      "trace_report", &analyse, "path"_a, nb::kw_only(), "format"_a = "", "base"_a = 0, "separator"_a = "",
      "comment"_a = "", "tick"_a = 0, "block"_a = 512, "shown"_a = "", "logical"_a = nb::none(), "cpu"_a = false,
      "file"_a = "", "include"_a = nb::list(), "exclude"_a = nb::list(), "all"_a = false, "process"_a = nb::none(),
      "progress"_a = nb::none(),
      nb::sig("def trace_report(path: str, *, format: str = \"\", base: int = 0, separator: str = \"\", comment: str = "
              "\"\", "
              "tick: int = 0, block: int = 512, shown: str = \"\", logical: bool | None = None, cpu: bool = False, "
              "file: str = \"\", "
              "include: list[str] = [], exclude: list[str] = [], all: bool = False, process: int | None = None, "
              "progress: collections.abc.Callable[[int, int], None] | None = None) -> dict[str, typing.Any]"));
  module.def(
      "foreign_file", [](const std::string& name) { return to_str(file_class_name(classify_foreign_file(name))); },
      "name"_a, nb::sig("def foreign_file(name: str) -> str"));
}

}  // namespace plait::python
