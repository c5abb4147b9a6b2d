/// The comments in which a 1992 trace of Plait's holds what records cannot, beside the remarks of trace/remarks.hpp.
///
///   with thread= interface= flags= cpu= offset= duration=  holds from here on for the file of the next record
///   but result= cpu= offset= length=                       what the next record would say otherwise
///   event KIND start= ...                                  an event that is no record
///
/// Numbers are decimal, whatever the base of the trace; times are in its ticks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plait/trace.hpp"
#include "trace/formats/remarks.hpp"
#include "trace/formats/text1992/state.hpp"

namespace plait::trace::text1992 {

/// What `with` changes.
struct MannerChange {
  std::optional<std::uint32_t> thread;
  std::optional<std::uint16_t> flags;
  std::optional<Interface> interface;
  std::optional<bool> cpu;
  std::optional<bool> offset;
  std::optional<bool> duration;

  void apply(Manner& manner) const;
};

/// What `but` says.
struct Override {
  std::optional<std::int64_t> result;
  std::optional<std::int64_t> cpu;
  std::optional<std::int64_t> offset;
  std::optional<std::int64_t> length;
};

std::string manner_text(const Manner& from, const Manner& to);
std::string override_text(const Override& values);
/// The event's times are ticks.
std::string event_text(const Event& event);

/// The inverses, of what is behind the keyword.  Empty: it cannot be understood.
bool parse_manner(Pairs pairs, MannerChange& change);
bool parse_override(Pairs pairs, Override& values);
std::optional<Event> parse_event(Pairs pairs);

}  // namespace plait::trace::text1992
