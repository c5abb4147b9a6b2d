#include "described.hpp"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "bind.hpp"
#include "string.hpp"
#include "trace/report/filter.hpp"
#include "trace/words.hpp"

namespace nb = nanobind;

namespace plait::python {

namespace {

nb::list list_counters(const trace::Description& description) {
  nb::list rows;
  if (description.counters.empty()) return rows;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const std::string*> names;
  for (const trace::File& file : description.files) names[{file.process, file.number}] = &file.name;
  std::map<std::uint32_t, std::int64_t> ranks;
  for (const trace::Process& process : description.processes) ranks[process.number] = process.rank;
  for (const trace::Counters& record : description.counters) {
    nb::dict values;
    for (const auto& [name, value] : record.values) values[to_str(name)] = value;
    const auto rank = ranks.find(record.process);
    const auto name = names.find({record.process, record.file});
    nb::dict row;
    row["process"] = record.process;
    row["rank"] = rank == ranks.end() ? -1 : rank->second;
    row["file"] = name == names.end() ? nb::none() : to_str(*name->second);
    const auto file_class =
        name == names.end() ? trace::report::FileClass::kNone : trace::report::classify_foreign_file(*name->second);
    row["foreign"] = to_str(trace::report::file_class_name(file_class));
    row["interface"] = to_str(trace::interface_word(record.interface));
    row["level"] = (record.flags & trace::flag::kLogical) != 0 ? "logical" : "physical";
    row["values"] = std::move(values);
    rows.append(std::move(row));
  }
  return rows;
}

nb::list list_processes(const trace::Description& description) {
  nb::list rows;
  if (description.counters.empty()) return rows;  // otherwise the events determine the processes
  for (const trace::Process& process : description.processes) {
    nb::dict row;
    row["rank"] = process.rank;
    row["command"] = to_str(process.command);
    rows.append(std::move(row));
  }
  return rows;
}

}  // namespace

nb::dict describe_trace(const trace::Description& description) {
  nb::list missed;
  for (const trace::MissedCalls& missed_calls : description.missed) {
    nb::dict row;
    row["reason"] = to_str(missed_calls.reason);
    row["events"] = missed_calls.events;
    row["read_bytes"] = missed_calls.read_bytes;
    row["written_bytes"] = missed_calls.written_bytes;
    missed.append(std::move(row));
  }
  nb::list notes;
  for (const std::string& note : description.notes) notes.append(to_str(note));
  nb::dict result;
  result["format"] = to_str(description.format);
  result["zero"] = description.zero;
  result["tick_ns"] = description.tick;
  result["complete"] = description.complete;
  result["missed"] = std::move(missed);
  result["counters"] = list_counters(description);
  result["processes"] = list_processes(description);
  result["notes"] = std::move(notes);
  return result;
}

}  // namespace plait::python
