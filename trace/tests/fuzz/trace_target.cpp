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

const Format* chosen = nullptr;

/// The result of reading a trace.
struct ReadResult {
  std::vector<Event> events;
  Description description;
  std::string error;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s: %s\n", chosen == nullptr ? "?" : std::string(chosen->name).c_str(), what.c_str());
  std::abort();
}

void demand(bool holds, const char* what) {
  if (!holds) fail(what);
}

ReadResult read_all(const Format& format, std::string_view text, std::size_t buffer_size,
                    const ReadOptions& options = {}) {
  ReadResult found;
  // Each event needs some bits of a trace; a reader that yields more events than this invents them.
  const std::size_t max_events = 64 * (text.size() + 16);
  try {
    const std::unique_ptr<Reader> reader = format.open(std::make_unique<Source>("input", make_bytes(text)), options);
    std::vector<Event> buffer(buffer_size);
    while (const std::size_t count = reader->read(buffer)) {
      demand(count <= buffer.size(), "a reader filled more than the room that it was given");
      found.events.insert(found.events.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
      demand(found.events.size() <= max_events, "more events than the bytes can hold");
    }
    demand(reader->read(buffer) == 0, "a reader went on behind its end");
    found.description = reader->description();
  } catch (const Error& error) {
    found.error = error.what();
    demand(!found.error.empty(), "an error says nothing");
  }
  return found;
}

bool same_beside_events(const Description& first, const Description& second) {
  return first.zero == second.zero && first.complete == second.complete && first.files == second.files &&
         first.missed == second.missed && first.notes == second.notes;
}

std::string written(const Format& format, const ReadResult& whole, const WriteOptions& options) {
  std::string text;
  const std::unique_ptr<Writer> writer = format.create(sink_to(text), options);
  for (const Process& process : whole.description.processes) writer->add(process);
  for (const File& file : whole.description.files) writer->add(file);
  writer->write(whole.events);
  writer->finish(whole.description);
  return text;
}

/// Checks that the trace can be written in each format, and is the same when it is read back.
void round_trip(const ReadResult& whole) {
  bool ordered = true;
  for (std::size_t i = 1; i < whole.events.size(); ++i)
    ordered = ordered && whole.events[i - 1].start <= whole.events[i].start;
  for (const char* name : {"1992", "csv", "plait"}) {
    if (!ordered && std::string_view(name) == "plait") continue;
    const Format& format = find_format(name);
    WriteOptions options;
    options.tick = 1;
    options.base = whole.events.size() % 2 == 0 ? 16 : 10;
    const std::string text = written(format, whole, options);
    const ReadResult again = read_all(format, text, 5);
    if (!again.error.empty()) fail("what was written cannot be read: " + again.error + "\n" + text);
    if (again.events != whole.events) fail(std::string("other events came back from ") + name + "\n" + text);
    if (!same_beside_events(again.description, whole.description))
      fail(std::string("another description came back from ") + name + "\n" + text);
  }
  if (whole.events.size() % 8 == 1) demand(!written(find_format("perfetto"), whole, {}).empty(), "nothing was written");
  // Rounded and plain traces can be read back, too, but are not equal.
  WriteOptions plain;
  plain.plain = true;
  const ReadResult rounded = read_all(find_format("1992"), written(find_format("1992"), whole, plain), 64);
  if (!rounded.error.empty()) fail("what was written plain cannot be read: " + rounded.error);
}

void run_reader(const Format& format, std::string_view text) {
  chosen = &format;
  for (const Format& format : formats())
    if (format.recognise != nullptr) (void)format.recognise(text);
  const ReadResult first = read_all(format, text, 256);
  const ReadResult second = read_all(format, text, 3);
  demand(first.error == second.error, "a second reading ends otherwise");
  if (!first.error.empty()) return;
  demand(first.events == second.events, "a second reading gives other events");
  demand(same_beside_events(first.description, second.description) &&
             first.description.processes == second.description.processes,
         "a second reading gives another description");
  round_trip(first);
}

std::vector<std::string> right_traces(const Format& format) {
  std::vector<std::string> inputs;
  for (std::uint64_t seed = 0; format.create != nullptr && seed < 12; ++seed) {
    RandomTrace whole = seed < 4 ? sequential_trace(4 + 8 * seed, 4096) : random_trace(seed, 3 * seed);
    if (seed >= 4) whole.description.files.resize(4);
    WriteOptions options;
    options.tick = seed % 2 == 0 ? 1 : 0;
    options.base = seed % 3 == 0 ? 10 : 16;
    options.separator = seed == 5 ? ';' : '\0';
    options.plain = seed % 5 == 0;
    std::string text;
    const auto writer = format.create(sink_to(text), options);
    for (const Process& process : whole.description.processes) writer->add(process);
    for (const File& file : whole.description.files) writer->add(file);
    writer->write(whole.events);
    writer->finish(whole.description);
    inputs.push_back(std::move(text));
  }
  return inputs;
}

}  // namespace

const std::vector<MessageKind>& received() {
  static const std::vector<MessageKind> kAll = [] {
    std::vector<MessageKind> all;
    for (const Format& format : formats())
      if (format.open != nullptr)
        all.push_back({format.name, [&format](std::string_view text) { run_reader(format, text); },
                       [&format] { return right_traces(format); }});
    return all;
  }();
  return kAll;
}

}  // namespace plait::fuzz
