/// Helpers of the tests that import traces of other tools.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plait/trace.hpp"
#include "trace/formats/registry.hpp"

namespace plait_test {

/// All events of an imported trace, and its description.
struct ImportedTrace {
  std::vector<plait::trace::Event> events;
  plait::trace::Description description;

  /// Returns the name of the file of an event.
  std::string name(const plait::trace::Event& event) const {
    for (const auto& file : description.files)
      if (file.process == event.process && file.number == event.file) return file.name;
    return "";
  }
  /// Returns the events of a kind.
  std::vector<plait::trace::Event> select(plait::trace::Kind kind) const {
    std::vector<plait::trace::Event> found;
    for (const auto& event : events)
      if (event.kind == kind) found.push_back(event);
    return found;
  }
  /// Returns true if a note of the description contains a text.
  bool has_note(std::string_view part) const {
    for (const auto& note : description.notes)
      if (note.find(part) != std::string::npos) return true;
    return false;
  }
};

inline ImportedTrace read_all(plait::trace::Reader& reader) {
  ImportedTrace all;
  std::vector<plait::trace::Event> output(7);
  while (const std::size_t count = reader.read(output))
    all.events.insert(all.events.end(), output.begin(), output.begin() + static_cast<std::ptrdiff_t>(count));
  all.description = reader.description();
  for (std::size_t k = 1; k < all.events.size(); ++k)
    if (all.events[k].start < all.events[k - 1].start) throw std::logic_error("events are not in the order of start");
  return all;
}

inline plait::trace::ReadOptions options_for(const std::string& format, const std::string& columns = "") {
  plait::trace::ReadOptions options;
  options.format = format;
  options.columns = columns;
  return options;
}

/// Reads a text in the given format, or in the detected format if none is given.
inline ImportedTrace read_text(std::string_view text, plait::trace::ReadOptions options = {},
                               const std::string& name = "trace") {
  auto source = std::make_unique<plait::trace::Source>(name, plait::trace::make_bytes(text));
  if (options.format.empty()) {
    for (const auto& format : plait::trace::formats()) {
      if (format.recognise == nullptr || !format.recognise(text)) continue;
      options.format = format.name;
      break;
    }
  }
  return read_all(*plait::trace::find_format(options.format).open(std::move(source), options));
}

}  // namespace plait_test
