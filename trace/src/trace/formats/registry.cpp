#include "trace/formats/registry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/workloads.hpp"
#include "trace/formats/binary/format.hpp"
#include "trace/formats/csv/csv.hpp"
#include "trace/formats/import/block.hpp"
#include "trace/formats/import/fio.hpp"
#include "trace/formats/import/strace.hpp"
#include "trace/formats/perfetto/perfetto.hpp"
#include "trace/formats/text1992/text1992.hpp"

namespace plait::trace {

namespace {

// The order in which formats are tried: one that accepts fewer traces comes before one that accepts more.
const std::vector<Format> kFormats{
    binary::format(), blktrace_format(), blkcsv_format(), kCsv,           kText1992,
    kPerfetto,        fio_format(),      strace_format(), vscsi_format(), oracle_general_format(),
};

std::string join_names(bool (*selects)(const Format&)) {
  std::string all;
  for (const Format& format : formats())
    if (selects(format)) all += base::text(all.empty() ? "" : ", ", format.name);
  return all;
}

/// The names of the formats that are read in Python.
std::vector<std::string>& extra_format_names() {
  static std::vector<std::string> names;
  return names;
}

bool is_readable(const Format& format) { return format.open != nullptr; }
bool is_writable(const Format& format) { return format.create != nullptr; }

const Format& recognise_format(Source& source, char separator) {
  const std::string_view head = source.peek(std::size_t{1} << 16);
  if (separator != 0 && csv::looks_like(head, separator)) return find_format("csv");
  for (const Format& format : formats())
    if (format.recognise != nullptr && is_readable(format) && format.recognise(head)) return format;
  base::throw_argument_error("cannot recognise the format of the trace ", source.name(),
                             head.empty() ? ", which is empty" : "",
                             "; state one of these formats: ", readable_formats());
}

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::string readable_formats() {
  std::string all = join_names(is_readable);
  for (const std::string& name : extra_format_names()) base::append_parts(all, ", ", name);
  return all;
}

void set_extra_format_names(std::vector<std::string> names) { extra_format_names() = std::move(names); }

const Format& find_format(std::string_view name) {
  const auto entry =
      std::find_if(formats().begin(), formats().end(), [&](const Format& format) { return format.name == name; });
  if (entry == formats().end())
    base::throw_argument_error("there is no trace format '", name, "'; these can be read: ", join_names(is_readable),
                               "; these can be written: ", join_names(is_writable));
  return *entry;
}

std::unique_ptr<Reader> open_trace(const std::string& path, const ReadOptions& options) {
  if (is_workload(path)) return open_workload(path);
  const std::string& shown = options.shown.empty() ? path : options.shown;
  auto source = std::make_unique<Source>(shown, open_bytes(path, shown));
  const Format& format =
      options.format.empty() ? recognise_format(*source, options.separator) : find_format(options.format);
  if (!is_readable(format)) base::throw_argument_error("traces in the format ", format.name, " are written, not read");
  return format.open(std::move(source), options);
}

std::unique_ptr<Writer> create_trace(const std::string& path, const WriteOptions& options) {
  const Format* format = nullptr;
  if (!options.format.empty()) {
    format = &find_format(options.format);
  } else {
    for (const Format& candidate : formats())
      if (!candidate.suffix.empty() && path.ends_with(candidate.suffix)) format = &candidate;
    if (format == nullptr)
      base::throw_argument_error("the name ", path,
                                 " does not tell the trace's format; name one of: ", join_names(is_writable));
  }
  if (!is_writable(*format))
    base::throw_argument_error("traces in the format ", format->name, " are read, not written");
  return format->create(open_sink(path), options);
}

std::int64_t copy(Reader& from, Writer& to) {
  std::vector<Event> output(4096);
  std::size_t added_processes = 0;
  std::size_t added_files = 0;
  std::int64_t events = 0;
  while (true) {
    const std::size_t count = from.read(output);
    const Description& description = from.description();
    while (added_processes < description.processes.size()) to.add(description.processes[added_processes++]);
    while (added_files < description.files.size()) to.add(description.files[added_files++]);
    if (count == 0) break;
    to.write(std::span<const Event>(output).first(count));
    events += static_cast<std::int64_t>(count);
  }
  to.finish(from.description());
  return events;
}

}  // namespace plait::trace
