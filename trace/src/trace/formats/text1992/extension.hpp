/// The comments with which Plait extends 1992 traces by data that records cannot contain, in addition to the remarks
/// of trace/formats/remarks.hpp.
///
///   with thread= interface= flags= cpu= offset= duration=  applies to this and later records of the next record's file
///   but result= cpu= offset= length=                       overrides values of the next record
///   event KIND start= ...                                  an event that is not a record
///
/// Numbers are decimal, whatever the base of the trace. Times are in its ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plait/trace.hpp"
#include "trace/formats/remarks.hpp"
#include "trace/formats/text1992/state.hpp"

namespace plait::trace::text1992 {

/// The values that `with` changes; for cpu, offset and duration, whether they are known.
struct RecordDefaultsChange {
  std::optional<std::uint32_t> thread;
  std::optional<std::uint16_t> flags;
  std::optional<Interface> interface;
  std::optional<bool> cpu;
  std::optional<bool> offset;
  std::optional<bool> duration;

  void apply(RecordDefaults& defaults) const;
};

/// The values that `but` overrides.
struct Override {
  std::optional<std::int64_t> result;
  std::optional<std::int64_t> cpu;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> length;
};

std::string defaults_text(const RecordDefaults& from, const RecordDefaults& to);
std::string override_text(const Override& values);
/// Writes an event whose times are ticks.
std::string event_text(const Event& event);

/// Parse the text after the keyword. Each is the inverse of a function above; the result is false or empty if it
/// cannot be parsed.
bool parse_defaults(Pairs pairs, RecordDefaultsChange& change);
bool parse_override(Pairs pairs, Override& values);
std::optional<Event> parse_event(Pairs pairs);

}  // namespace plait::trace::text1992
