// The fuzz target of trace readers: random bytes are read or rejected by an error, twice with the same result; what was
// read can be written in each format and read back unchanged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plait/error.hpp"
#include "plait/trace.hpp"
#include "received.hpp"
#include "trace/formats/registry.hpp"
#include "trace_random.hpp"

namespace plait::fuzz {

namespace {

using namespace plait::trace;

const Format* tested_format = nullptr;

/// The result of reading a trace.
struct ReadResult {
  std::vector<Event> events;
  Description description;
  std::string error;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s: %s\n", tested_format == nullptr ? "?" : std::string(tested_format->name).c_str(),
               what.c_str());
  std::abort();
}

void check(bool holds, const char* what) {
  if (!holds) fail(what);
}

ReadResult read_all(const Format& format, std::string_view text, std::size_t buffer_size,
                    const ReadOptions& options = {}) {
  ReadResult result;
  // Each event needs some bits of a trace, so a reader that returns more events than this has a defect.
  const std::size_t max_events = 64 * (text.size() + 16);
  try {
    const std::unique_ptr<Reader> reader = format.open(std::make_unique<Source>("input", make_bytes(text)), options);
    std::vector<Event> buffer(buffer_size);
    while (const std::size_t count = reader->read(buffer)) {
      check(count <= buffer.size(), "a reader returned more events than its buffer holds");
      result.events.insert(result.events.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
      check(result.events.size() <= max_events, "more events than the bytes can hold");
    }
    check(reader->read(buffer) == 0, "a reader returned events after the end of the trace");
    result.description = reader->description();
  } catch (const Error& error) {
    result.error = error.what();
    check(!result.error.empty(), "the text of an error is empty");
  }
  return result;
}

bool equal_except_events(const Description& first, const Description& second) {
  return first.zero == second.zero && first.complete == second.complete && first.files == second.files &&
         first.missed == second.missed && first.notes == second.notes;
}

std::string write_trace(const Format& format, const ReadResult& content, const WriteOptions& options) {
  std::string text;
  const std::unique_ptr<Writer> writer = format.create(make_text_sink(text), options);
  for (const Process& process : content.description.processes) writer->add(process);
  for (const File& file : content.description.files) writer->add(file);
  writer->write(content.events);
  writer->finish(content.description);
  return text;
}

/// Checks that the trace can be written in each format, and is the same when it is read back.
void round_trip(const ReadResult& content) {
  bool ordered = true;
  for (std::size_t i = 1; i < content.events.size(); ++i)
    ordered = ordered && content.events[i - 1].start <= content.events[i].start;
  for (const char* name : {"1992", "csv", "plait"}) {
    if (!ordered && std::string_view(name) == "plait") continue;
    const Format& format = find_format(name);
    WriteOptions options;
    options.tick = 1;
    options.base = content.events.size() % 2 == 0 ? 16 : 10;
    const std::string text = write_trace(format, content, options);
    const ReadResult again = read_all(format, text, 5);
    if (!again.error.empty()) fail("a written trace cannot be read: " + again.error + "\n" + text);
    if (again.events != content.events) fail(std::string("other events came back from ") + name + "\n" + text);
    if (!equal_except_events(again.description, content.description))
      fail(std::string("another description came back from ") + name + "\n" + text);
  }
  if (content.events.size() % 8 == 1)
    check(!write_trace(find_format("perfetto"), content, {}).empty(), "nothing was written");
  // Rounded and plain traces can be read back, too, but are not equal.
  WriteOptions plain;
  plain.plain = true;
  const ReadResult rounded = read_all(find_format("1992"), write_trace(find_format("1992"), content, plain), 64);
  if (!rounded.error.empty()) fail("a plain trace cannot be read: " + rounded.error);
}

void run_reader(const Format& format, std::string_view text) {
  tested_format = &format;
  for (const Format& other : formats())
    if (other.recognise != nullptr) (void)other.recognise(text);
  const ReadResult first = read_all(format, text, 256);
  const ReadResult second = read_all(format, text, 3);
  check(first.error == second.error, "reading again has another error");
  if (!first.error.empty()) return;
  check(first.events == second.events, "reading again returns other events");
  check(equal_except_events(first.description, second.description) &&
            first.description.processes == second.description.processes,
        "reading again returns another description");
  round_trip(first);
}

std::vector<std::string> make_valid_traces(const Format& format) {
  std::vector<std::string> inputs;
  for (std::uint64_t seed = 0; format.create != nullptr && seed < 12; ++seed) {
    TraceContent content = seed < 4 ? sequential_trace(4 + 8 * seed, 4096) : random_trace(seed, 3 * seed);
    if (seed >= 4) content.description.files.resize(4);
    WriteOptions options;
    options.tick = seed % 2 == 0 ? 1 : 0;
    options.base = seed % 3 == 0 ? 10 : 16;
    options.separator = seed == 5 ? ';' : '\0';
    options.plain = seed % 5 == 0;
    std::string text;
    const auto writer = format.create(make_text_sink(text), options);
    for (const Process& process : content.description.processes) writer->add(process);
    for (const File& file : content.description.files) writer->add(file);
    writer->write(content.events);
    writer->finish(content.description);
    inputs.push_back(std::move(text));
  }
  return inputs;
}

}  // namespace

const std::vector<MessageKind>& message_kinds() {
  static const std::vector<MessageKind> kAll = [] {
    std::vector<MessageKind> all;
    for (const Format& format : formats())
      if (format.open != nullptr)
        all.push_back({format.name, [&format](std::string_view text) { run_reader(format, text); },
                       [&format] { return make_valid_traces(format); }});
    return all;
  }();
  return kAll;
}

}  // namespace plait::fuzz
