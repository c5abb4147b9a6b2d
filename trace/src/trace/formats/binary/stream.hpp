/// The events of one chunk, in the order of their starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/events/delta.h"
#include "base/events/format.h"
#include "plait/trace.hpp"
#include "trace/formats/binary/part.hpp"
#include "trace/formats/binary/tables.hpp"

namespace plait::trace::binary {

/// Reads a chunk.
/// memory   a window of the chunk, a state for each of its contexts, and the events that are out of order.
class Stream {
 public:
  /// order  if starts are equal, the stream with the smaller order comes first.
  Stream(const Part& part, const ChunkEntry& entry, std::uint64_t order, Tables& tables, std::int64_t shift);

  /// Proceeds to the next event. Returns false at the end.
  bool next();
  const Event& event() const noexcept { return event_; }
  std::uint64_t order() const noexcept { return order_; }
  /// The damage of the chunk, or an empty text; and the number of its events that could not be read.
  const std::string& damage() const noexcept { return damage_; }
  std::int64_t lost() const noexcept { return lost_; }

 private:
  struct Context {
    plait_delta delta;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t file = 0;        // file of its last event, numbered as in the chunk
    std::uint32_t trace_file = 0;  // that file, numbered as in the trace
  };
  struct QueuedEvent {
    Event event;
    std::uint64_t number;
  };
  struct StartsLater {
    bool operator()(const QueuedEvent& a, const QueuedEvent& b) const noexcept {
      return a.event.start != b.event.start ? a.event.start > b.event.start : a.number > b.number;
    }
  };

  bool decode(Event& event);
  bool decode_control(unsigned tag);
  bool decode_fields(unsigned tag, Event& event);
  void fill();
  bool fail(const std::string& reason);
  std::size_t bytes_in_window() const noexcept { return static_cast<std::size_t>(end_ - cursor_); }

  const Part& part_;
  Tables& tables_;
  std::uint64_t order_;
  std::uint64_t shift_;
  plait_chunk chunk_{};
  const Image* image_ = nullptr;
  std::vector<unsigned char> window_;
  const unsigned char* cursor_ = nullptr;  // next byte to decode, in window_
  const unsigned char* end_ = nullptr;
  std::uint64_t loaded_bytes_ = 0;  // bytes of the content that are or were in the window
  std::vector<std::unique_ptr<Context>> contexts_;
  Context* context_ = nullptr;
  Event event_;
  std::vector<QueuedEvent> reordered_;     // decoded events that are not returned yet: a heap with the earliest on top
  std::int64_t latest_start_ = INT64_MIN;  // latest start of a decoded event
  std::int64_t last_returned_start_ = INT64_MIN;
  std::uint64_t decoded_ = 0;
  bool ended_ = false;
  bool is_truncated_ = false;
  std::string damage_;
  std::int64_t lost_ = 0;
};

}  // namespace plait::trace::binary
