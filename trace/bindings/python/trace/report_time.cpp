// The parts of a report that show quantities over time, as lists and dictionaries of Python.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report.hpp"

namespace nb = nanobind;

namespace plait::python::reports {

using namespace trace::report;

namespace {

template <typename Values>
nb::list list(const Values& values) {
  nb::list result;
  for (const auto& value : values) result.append(value);
  return result;
}

/// Converts a matrix to a list of rows.
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

}  // namespace

nb::object to_text(const std::string& bytes) {
  PyObject* decoded = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal(decoded);
}

nb::dict timeline_to_dict(const Report& report) {
  const Timeline& line = report.timeline;
  nb::dict result;
  result["begin"] = 0;
  result["width"] = seconds(line.width);
  result["read_bytes"] = list(line.bytes[kReads]);
  result["write_bytes"] = list(line.bytes[kWrites]);
  result["reads"] = list(line.counts[kReads]);
  result["writes"] = list(line.counts[kWrites]);
  result["busy"] = list(line.busy);
  nb::list present;
  for (const double time : line.present) present.append(time * 1e-9);
  result["present"] = std::move(present);
  result["clock"] = line.cpu ? "cpu" : "wall";
  return result;
}

nb::list cycles_to_list(const Report& report) {
  nb::list rows;
  for (const Cycle& cycle : report.cycles) {
    nb::dict row;
    row["period_seconds"] = cycle.period * 1e-9;
    row["strength"] = cycle.strength;
    row["regularity"] = cycle.regularity;
    row["count"] = cycle.count;
    row["first"] = cycle.first * 1e-9;
    row["last"] = cycle.last * 1e-9;
    row["what"] = to_text(cycle.what);
    row["bytes_per_cycle"] = static_cast<std::int64_t>(cycle.bytes + 0.5);
    rows.append(std::move(row));
  }
  return rows;
}

nb::dict ranks_to_dict(const Report& report) {
  const Ranks& ranks = report.ranks;
  nb::list rows;
  for (const std::uint32_t index : ranks.rows) {
    const trace::Process& process = report.processes[index].process;
    nb::dict row;
    row["process"] = process.number;
    row["rank"] = process.rank;
    rows.append(std::move(row));
  }
  nb::dict result;
  result["rows"] = std::move(rows);
  result["merged"] = ranks.merged;
  result["columns"] = ranks.columns;
  result["width"] = seconds(ranks.width);
  const auto columns = static_cast<std::size_t>(ranks.columns);
  result["bytes"] = matrix(ranks.bytes, columns, 1.0);
  result["seconds"] = matrix(ranks.times, columns, 1e-9);
  return result;
}

nb::list offsets_to_list(const Report& report) {
  nb::list pictures;
  for (const Offsets& offsets : report.offsets) {
    nb::dict picture;
    picture["file"] = to_text(offsets.file);
    picture["since"] = seconds(offsets.since);
    picture["width"] = seconds(offsets.width);
    picture["height"] = offsets.height;
    picture["columns"] = offsets.columns;
    picture["rows"] = offsets.rows;
    for (const int direction : {kReads, kWrites})
      picture[direction_name(direction)] =
          matrix(offsets.bytes[static_cast<std::size_t>(direction)], static_cast<std::size_t>(offsets.columns), 1.0);
    pictures.append(std::move(picture));
  }
  return pictures;
}

}  // namespace plait::python::reports
