// Reading and writing of traces. Events are NumPy arrays of plait.trace.EVENT, which has the bytes of trace::Event.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "bind.hpp"
#include "gil_release.hpp"
#include "module.hpp"
#include "plait/trace.hpp"
#include "string.hpp"
#include "trace/formats/registry.hpp"
#include "trace/interval_reader.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

using trace::Description;
using trace::Event;

static_assert(sizeof(Event) == 72, "plait.trace.EVENT describes the same bytes");

/// A trace that is being read. close() destroys the reader itself.
struct TraceReader {
  std::unique_ptr<trace::Reader> reader;

  trace::Reader& open() const {
    if (reader == nullptr) base::throw_argument_error("the trace is closed");
    return *reader;
  }
};

/// A trace that is being written. finish() and close() destroy the writer itself.
struct TraceWriter {
  std::unique_ptr<trace::Writer> writer;
  std::int64_t bytes = 0;         // set when finished
  std::vector<std::string> lost;  // set when finished

  trace::Writer& open() const {
    if (writer == nullptr) base::throw_argument_error("the trace is finished or closed");
    return *writer;
  }
};

nb::object event_type() { return nb::module_::import_("plait.trace._event").attr("EVENT"); }

std::uintptr_t data_address(const nb::object& array) {
  return nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data"));
}

nb::list to_list(std::span<const trace::Process> processes) {
  nb::list all;
  for (const trace::Process& process : processes)
    all.append(nb::make_tuple(process.number, process.parent, process.rank, to_str(process.host),
                              to_str(process.command), process.cpu));
  return all;
}

nb::list to_list(std::span<const trace::File> files) {
  nb::list all;
  for (const trace::File& file : files) all.append(nb::make_tuple(file.process, file.number, to_str(file.name)));
  return all;
}

/// Returns the elements after the first `count`.
template <typename Element>
std::span<const Element> after(const std::vector<Element>& all, std::size_t count) {
  return std::span<const Element>(all).subspan(std::min(count, all.size()));
}

nb::list to_list(std::span<const trace::Counters> counters) {
  nb::list all;
  for (const trace::Counters& record : counters) {
    nb::dict values;
    for (const auto& [name, value] : record.values) values[to_str(name)] = value;
    all.append(nb::make_tuple(record.process, record.file, static_cast<int>(record.interface), record.flags, values));
  }
  return all;
}

std::vector<trace::Counters> to_counters(const nb::list& rows) {
  std::vector<trace::Counters> all;
  for (const nb::handle row : rows) {
    trace::Counters& record = all.emplace_back();
    record.process = nb::cast<std::uint32_t>(row[0]);
    record.file = nb::cast<std::uint32_t>(row[1]);
    record.interface = static_cast<trace::Interface>(nb::cast<std::uint8_t>(row[2]));
    record.flags = nb::cast<std::uint16_t>(row[3]);
    for (const auto& [name, value] : nb::cast<nb::dict>(row[4]))
      record.values.emplace_back(to_bytes(name), nb::cast<std::int64_t>(value));
  }
  return all;
}

nb::dict to_dict(const Description& description) {
  nb::list missed;
  for (const trace::MissedCalls& missed_calls : description.missed)
    missed.append(nb::make_tuple(to_str(missed_calls.reason), missed_calls.events, missed_calls.read_bytes,
                                 missed_calls.written_bytes));
  nb::list notes;
  for (const std::string& note : description.notes) notes.append(to_str(note));
  nb::dict all;
  all["format"] = to_str(description.format);
  all["zero"] = description.zero;
  all["tick"] = description.tick;
  all["complete"] = description.complete;
  all["processes"] = to_list(after(description.processes, 0));
  all["files"] = to_list(after(description.files, 0));
  all["missed"] = missed;
  all["counters"] = to_list(std::span<const trace::Counters>(description.counters));
  all["notes"] = notes;
  return all;
}

char parse_separator(const std::string& separator) {
  if (separator.size() > 1) base::throw_argument_error("a separator is one character, not '" + separator + "'");
  return separator.empty() ? '\0' : separator[0];
}

/// The notation of a trace, common to reading and writing.
struct Notation {
  const std::string& format;
  int base;
  const std::string& separator;
  const std::string& comment;
  std::int64_t tick;
  std::int64_t block;
};

template <typename Options>
Options make_options(const Notation& notation) {
  Options options;
  options.format = notation.format;
  options.base = notation.base;
  options.separator = parse_separator(notation.separator);
  options.comment = notation.comment;
  options.tick = notation.tick;
  options.block = notation.block;
  return options;
}

TraceReader open_reader(const nb::str& path, const std::string& format, int base, const std::string& separator,
                        const std::string& comment, std::int64_t tick, std::int64_t block, const std::string& columns,
                        std::optional<std::int64_t> begin, std::optional<std::int64_t> end, const nb::str& shown) {
  auto options = make_options<trace::ReadOptions>({format, base, separator, comment, tick, block});
  options.columns = columns;
  options.shown = to_bytes(shown);
  const std::string name = to_bytes(path);
  const GilRelease release;
  TraceReader opened;
  opened.reader = trace::open_trace(name, options);
  if (begin || end)
    opened.reader = trace::between(std::move(opened.reader), begin.value_or(INT64_MIN), end.value_or(INT64_MAX));
  return opened;
}

nb::object read(const TraceReader& self, std::int64_t count) {
  if (count < 0) base::throw_argument_error("cannot read " + std::to_string(count) + " events");
  trace::Reader& reader = self.open();
  nb::object array = nb::module_::import_("numpy").attr("empty")(count, event_type());
  const std::span<Event> output(reinterpret_cast<Event*>(data_address(array)), static_cast<std::size_t>(count));
  std::size_t events_read = 0;
  {
    const GilRelease release;
    while (events_read < output.size()) {
      const std::size_t count_read = reader.read(output.subspan(events_read));
      if (count_read == 0) break;
      events_read += count_read;
    }
  }
  if (events_read == output.size()) return array;
  return array[nb::slice(std::size_t{0}, events_read)];
}

void write(const TraceWriter& self, const nb::object& events) {
  const nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(events, event_type());
  const auto count = nb::cast<std::size_t>(array.attr("size"));
  const std::span<const Event> all(reinterpret_cast<const Event*>(data_address(array)), count);
  trace::Writer& writer = self.open();
  const GilRelease release;
  writer.write(all);
}

TraceWriter open_writer(const nb::str& path, const std::string& format, int base, const std::string& separator,
                        const std::string& comment, std::int64_t tick, std::int64_t block, bool plain) {
  auto options = make_options<trace::WriteOptions>({format, base, separator, comment, tick, block});
  options.plain = plain;
  const std::string name = to_bytes(path);
  const GilRelease release;
  TraceWriter created;
  created.writer = trace::create_trace(name, options);
  return created;
}

void finish(TraceWriter& self, std::int64_t zero, std::int64_t tick, bool complete, const nb::list& missed,
            const nb::list& counters, const nb::list& notes) {
  Description description;
  description.zero = zero;
  description.tick = tick;
  description.complete = complete;
  for (const nb::handle missed_calls : missed)
    description.missed.push_back({to_bytes(missed_calls[0]), nb::cast<std::int64_t>(missed_calls[1]),
                                  nb::cast<std::int64_t>(missed_calls[2]), nb::cast<std::int64_t>(missed_calls[3])});
  description.counters = to_counters(counters);
  for (const nb::handle note : notes) description.notes.push_back(to_bytes(note));
  trace::Writer& writer = self.open();
  const GilRelease release;
  writer.finish(description);
  self.bytes = writer.bytes_written();
  self.lost = writer.lost();
  self.writer.reset();
}

/// Copies the remaining events, and the processes and files. Calls `progress`, which may raise, about ten times a
/// second.
std::int64_t copy_events(const TraceReader& from, const TraceWriter& to, const nb::object& progress) {
  trace::Reader& reader = from.open();
  trace::Writer& writer = to.open();
  const GilRelease release;
  std::vector<Event> output(4096);
  std::size_t processes = 0;
  std::size_t files = 0;
  std::int64_t events = 0;
  auto last_progress = std::chrono::steady_clock::now();
  while (true) {
    const std::size_t count = reader.read(output);
    // Add processes and files before the events that refer to them.
    const Description& description = reader.description();
    while (processes < description.processes.size()) writer.add(description.processes[processes++]);
    while (files < description.files.size()) writer.add(description.files[files++]);
    if (count == 0) return events;
    writer.write(std::span<const Event>(output).first(count));
    events += static_cast<std::int64_t>(count);
    if (std::chrono::steady_clock::now() - last_progress < std::chrono::milliseconds(100)) continue;
    last_progress = std::chrono::steady_clock::now();
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    if (!progress.is_none()) progress(reader.bytes_read(), reader.bytes_in_all());
  }
}

}  // namespace

void bind_traces(nb::module_& module) {
  nb::class_<TraceReader>(module, "TraceReader")
      .def("read", &read, nb::sig("def read(self, count: int) -> numpy.typing.NDArray[numpy.void]"), "count"_a)
      .def_prop_ro(
          "description", [](const TraceReader& self) { return to_dict(self.open().description()); },
          nb::sig("def description(self) -> dict[str, typing.Any]"))
      .def(
          "processes_after",
          [](const TraceReader& self, std::size_t count) {
            return to_list(after(self.open().description().processes, count));
          },
          nb::sig("def processes_after(self, count: int) -> list[tuple[int, int, int, str, str, int]]"), "count"_a)
      .def(
          "files_after",
          [](const TraceReader& self, std::size_t count) {
            return to_list(after(self.open().description().files, count));
          },
          nb::sig("def files_after(self, count: int) -> list[tuple[int, int, str]]"), "count"_a)
      .def_prop_ro("bytes_read", [](const TraceReader& self) { return self.open().bytes_read(); })
      .def_prop_ro("bytes_in_all", [](const TraceReader& self) { return self.open().bytes_in_all(); })
      .def("close", [](TraceReader& self) { self.reader.reset(); });
  nb::class_<TraceWriter>(module, "TraceWriter")
      .def(
          "add_process",
          [](const TraceWriter& self, std::uint32_t number, std::uint32_t parent, std::int64_t rank,
             const nb::str& host, const nb::str& command, std::int64_t cpu) {
            self.open().add(trace::Process{number, parent, rank, to_bytes(host), to_bytes(command), cpu});
          },
          "number"_a, "parent"_a, "rank"_a, "host"_a, "command"_a, "cpu"_a)
      .def(
          "add_file",
          [](const TraceWriter& self, std::uint32_t process, std::uint32_t number, const nb::str& name) {
            self.open().add(trace::File{process, number, to_bytes(name)});
          },
          "process"_a, "number"_a, "name"_a)
      .def("write", &write, nb::sig("def write(self, events: numpy.typing.NDArray[numpy.void]) -> None"), "events"_a)
      .def("finish", &finish,
           nb::sig("def finish(self, zero: int, tick: int, complete: bool, missed: list[tuple[str, int, int, int]], "
                   "counters: list[tuple[int, int, int, int, dict[str, int]]], notes: list[str]) -> None"),
           "zero"_a, "tick"_a, "complete"_a, "missed"_a, "counters"_a, "notes"_a)
      .def_prop_ro("bytes_written",
                   [](const TraceWriter& self) { return self.writer ? self.writer->bytes_written() : self.bytes; })
      .def_prop_ro(
          "lost",
          [](const TraceWriter& self) {
            nb::list all;
            for (const std::string& remark : self.writer ? self.writer->lost() : self.lost) all.append(to_str(remark));
            return all;
          },
          nb::sig("def lost(self) -> list[str]"))
      .def("close", [](TraceWriter& self) { self.writer.reset(); });
  module.def("open_trace", &open_reader, "path"_a, "format"_a, "base"_a, "separator"_a, "comment"_a, "tick"_a,
             "block"_a, "columns"_a, "begin"_a.none(), "end"_a.none(), "shown"_a);
  module.def("create_trace", &open_writer, "path"_a, "format"_a, "base"_a, "separator"_a, "comment"_a, "tick"_a,
             "block"_a, "plain"_a);
  module.def("copy_events", &copy_events,
             nb::sig("def copy_events(source: TraceReader, target: TraceWriter, "
                     "progress: collections.abc.Callable[[int, int], None] | None) -> int"),
             "source"_a, "target"_a, "progress"_a.none());
  module.def(
      "copy_trace",
      [](const TraceReader& from, const TraceWriter& to) {
        trace::Reader& reader = from.open();
        trace::Writer& writer = to.open();
        const GilRelease release;
        return trace::copy(reader, writer);
      },
      "source"_a, "target"_a);
  module.def(
      "trace_formats",
      [] {
        nb::list all;
        for (const trace::Format& format : trace::formats())
          all.append(nb::make_tuple(to_str(format.name), to_str(format.suffix), format.open != nullptr,
                                    format.create != nullptr));
        return all;
      },
      nb::sig("def trace_formats() -> list[tuple[str, str, bool, bool]]"));
  module.def("name_other_formats", &trace::set_extra_format_names, "names"_a);
}

}  // namespace plait::python
