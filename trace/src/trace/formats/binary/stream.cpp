// Decodes the events of one chunk, and sorts them by their start.
//
// Problem: a thread writes an event when its call ends, so a call that starts later can be written earlier: the
// events of one chunk are not quite in order.
//
// Idea: the chunk's header contains `back`, the maximum time by which an event starts before an earlier record. An
// event can be returned as soon as a record starts at least `back` later.
//
// Example: back = 5, and records start at 10, 8 and 14. The records 10 and 8 are held in a heap. The record 14 shows
// that no later record starts before 14 - 5 = 9, so that 8 is returned. 10 is held until a record starts at 15 or
// later, or the chunk ends.

#include "trace/formats/binary/stream.hpp"

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "trace/formats/binary/bytes.hpp"
#include "trace/words.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::size_t kWindow = std::size_t{1} << 13;
constexpr std::size_t kSlack = PLAIT_TRACE_LONGEST;

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

}  // namespace

Stream::Stream(const Part& part, const ChunkEntry& entry, std::uint64_t order, Tables& tables, std::int64_t shift)
    : part_(part), tables_(tables), order_(order), shift_(static_cast<std::uint64_t>(shift)) {
  if (!part.read_chunk(entry.position, chunk_) || chunk_.kind != PLAIT_CHUNK_EVENTS || chunk_.size != entry.size ||
      chunk_.first != entry.first) {
    chunk_.position = entry.position;
    chunk_.used = 0;
    chunk_.events = 0;
    fail("its header differs from the index");
    return;
  }
  if (chunk_.used > chunk_.size - sizeof chunk_) {
    fail("its header says that it uses more bytes than it has");
    return;
  }
  if (chunk_.image != 0) {
    image_ = tables.find_image(part, chunk_.process, chunk_.image);
    if (image_ == nullptr) {
      fail(base::text("it belongs to process ", chunk_.process, ", of which the trace has no description"));
      return;
    }
  }
  last_returned_start_ = chunk_.first;
  window_.resize(std::min<std::size_t>(kWindow, chunk_.used) + kSlack);
  contexts_.push_back(std::make_unique<Context>());
  context_ = contexts_.front().get();
  plait_delta_begin(&context_->delta, chunk_.base);
  context_->process = chunk_.process;
  context_->thread = chunk_.thread;
  cursor_ = end_ = window_.data();
}

bool Stream::fail(const std::string& reason) {
  if (damage_.empty())
    damage_ = base::text("the chunk at byte ", chunk_.position, " of ", part_.name(), " is damaged after ", decoded_,
                         " of ", chunk_.events, " events: ", reason);
  lost_ = std::max<std::int64_t>(0, std::int64_t{chunk_.events} - number(decoded_));
  ended_ = true;
  return false;
}

// Fills the window with the next bytes of the chunk, followed by zeros. A truncated record is thus read to its end,
// and then found to be too long.
void Stream::fill() {
  const std::size_t unread = bytes_in_window();
  std::memmove(window_.data(), cursor_, unread);
  const std::size_t capacity = window_.size() - kSlack - unread;
  const std::size_t requested = std::min<std::uint64_t>(capacity, chunk_.used - loaded_bytes_);
  const std::size_t received =
      part_.blob().read(chunk_.position + sizeof chunk_ + loaded_bytes_, window_.data() + unread, requested);
  loaded_bytes_ += received;
  if (received < requested) {
    is_truncated_ = true;
    chunk_.used = static_cast<std::uint32_t>(loaded_bytes_);
  }
  cursor_ = window_.data();
  end_ = cursor_ + unread + received;
  std::memset(window_.data() + unread + received, 0, kSlack);
}

bool Stream::decode_control(unsigned tag) {
  std::uint64_t first = tag - PLAIT_TAG_CONTEXT;
  std::uint64_t second = 0;
  if (tag == PLAIT_TAG_NEW || tag == PLAIT_TAG_RENEW) {
    if ((cursor_ = get_varint(cursor_, first)) == nullptr || (cursor_ = get_varint(cursor_, second)) == nullptr ||
        first > UINT32_MAX || second > UINT32_MAX)
      return fail("a thread without a number");
    if (tag == PLAIT_TAG_NEW) {
      if (contexts_.size() >= PLAIT_TRACE_CONTEXTS) return fail("more threads than a chunk may have");
      contexts_.push_back(std::make_unique<Context>());
      context_ = contexts_.back().get();
    }
    plait_delta_begin(&context_->delta, chunk_.base);
    context_->process = static_cast<std::uint32_t>(first);
    context_->thread = static_cast<std::uint32_t>(second);
    context_->file = context_->trace_file = 0;
    return true;
  }
  if (tag >= PLAIT_TAG_EXTENSION) {
    if ((cursor_ = get_varint(cursor_, first)) == nullptr) return fail("a record without a length");
    const std::uint64_t bytes_left = bytes_in_window() + (chunk_.used - loaded_bytes_);
    if (cursor_ > end_ || first > bytes_left) return fail("a record longer than the chunk");
    if (first <= bytes_in_window()) {
      cursor_ += first;
    } else {
      loaded_bytes_ += first - bytes_in_window();
      cursor_ = end_;
    }
    return true;
  }
  if (tag == PLAIT_TAG_SWITCH) {
    if ((cursor_ = get_varint(cursor_, first)) == nullptr) return fail("a thread without a number");
  } else if (tag > PLAIT_TAG_CONTEXT_LAST) {
    return fail(base::text("an unknown record ", tag));
  }
  if (first >= contexts_.size()) return fail("a thread that was not named");
  context_ = contexts_[first].get();
  return true;
}

// Decodes the fields that plait_delta_put encodes.
bool Stream::decode_fields(unsigned tag, Event& event) {
  plait_delta& delta = context_->delta;
  // There are no checks on the way: the window always contains the longest record, possibly of zeros. A record that
  // exceeds the chunk is found at the end.
  const unsigned char* at = cursor_;
  if ((tag & PLAIT_TAG_SHAPE) != 0) {
    const unsigned first = *at++;
    delta.kind = first & (PLAIT_DELTA_KINDS - 1);
    if ((first & PLAIT_SHAPE_KNOWN) == 0) {
      delta.shapes[delta.kind] = (std::uint32_t{at[0]} | std::uint32_t{at[1]} << 8U | std::uint32_t{at[2]} << 16U) + 1;
      at += 3;
    }
  }
  if (delta.kind >= kKinds || delta.shapes[delta.kind] == 0) return fail("an event of an unknown kind");
  const std::uint32_t shape = delta.shapes[delta.kind] - 1;
  std::uint64_t value = 0;
  if ((tag & PLAIT_TAG_FILE) != 0) {
    if ((at = get_signed(at, value)) == nullptr) return fail("a number too long");
    delta.file = static_cast<std::uint32_t>(delta.file + value);
  }
  plait_delta_file& entry = *plait_delta_entry(&delta, delta.file);
  const bool transfer = delta.kind <= PLAIT_EVENT_WRITE;
  std::uint64_t offset = transfer ? entry.next : ~std::uint64_t{0};
  std::uint64_t length = transfer ? entry.length : 0;
  if ((tag & PLAIT_TAG_OFFSET) != 0) {
    if ((at = get_signed(at, value)) == nullptr) return fail("a number too long");
    offset = entry.next + value;
  }
  if ((tag & PLAIT_TAG_LENGTH) != 0) {
    if ((at = get_signed(at, value)) == nullptr) return fail("a number too long");
    length = entry.length + value;
  }
  std::uint64_t result = transfer ? length : 0;
  if ((tag & PLAIT_TAG_RESULT) != 0) {
    if ((at = get_signed(at, value)) == nullptr) return fail("a number too long");
    result += value;
  }
  if ((tag & PLAIT_TAG_OPERATION) != 0) {
    if ((at = get_signed(at, value)) == nullptr) return fail("a number too long");
    delta.operation += value;
  }
  if ((tag & PLAIT_TAG_CPU) != 0) {
    if ((at = get_signed(at, value)) == nullptr) return fail("a number too long");
    delta.cpu += value;
  }
  std::uint64_t duration = 0;
  if ((at = get_signed(at, value)) == nullptr || (at = get_varint(at, duration)) == nullptr)
    return fail("a number too long");
  if (at > end_) return fail("its last event is cut off");
  cursor_ = at;
  plait_event raw;
  raw.start = number(delta.end + value);
  raw.duration = number(duration - 1);
  raw.offset = number(offset);
  raw.length = number(length);
  raw.result = number(result);
  raw.operation = delta.operation;
  raw.file = delta.file;
  raw.kind = static_cast<std::uint8_t>(delta.kind);
  plait_delta_after(&delta, &entry, &raw);
  event.start = raw.start;
  event.duration = raw.duration;
  event.cpu = number(delta.cpu);
  event.offset = raw.offset;
  event.length = raw.length;
  event.result = raw.result;
  event.operation = raw.operation;
  event.thread = context_->thread;
  event.file = raw.file;
  event.kind = static_cast<Kind>(raw.kind);
  event.interface = static_cast<Interface>(std::min<std::uint32_t>(shape & 0xff, 255));
  event.flags = static_cast<std::uint16_t>(shape >> 8U);
  if (static_cast<std::size_t>(event.interface) >= kInterfaces)
    event.interface = Interface::kUnknown;  // written by a later version
  return true;
}

bool Stream::decode(Event& event) {
  while (!ended_) {
    if (bytes_in_window() < kSlack) fill();
    if (cursor_ == end_) {
      // A process that is killed while it writes its last event has counted but not stored it.
      if (is_truncated_ || decoded_ + 1 < chunk_.events)
        return fail(is_truncated_ ? "the file ends within it" : "it ends early");
      ended_ = true;
      return false;
    }
    const unsigned tag = *cursor_++;
    if (tag >= PLAIT_TAG_CONTEXT) {
      if (!decode_control(tag)) return false;
      if (cursor_ > end_) return fail("its last record is cut off");
      continue;
    }
    if (!decode_fields(tag, event)) return false;
    ++decoded_;
    event.process = context_->process;
    if (image_ != nullptr) {
      event.process = image_->number;
      if (event.file != context_->file) {
        context_->file = event.file;
        context_->trace_file = tables_.find_file(*image_, event.file);
      }
      event.file = context_->trace_file;
      if (event.kind == Kind::kFork)
        event.operation = tables_.find_child(*image_, event.operation);
      else if (event.operation != 0)
        event.operation += image_->operation_shift;
    }
    if (event.start < chunk_.first) return fail("an event before its first");
    return true;
  }
  return false;
}

bool Stream::next() {
  if (reordered_.empty() && chunk_.back == 0) {  // in order, as most chunks are
    if (!decode(event_)) return false;
  } else {
    // An event is returned when no later record can precede it.
    Event event;
    while (!ended_ && (reordered_.empty() || static_cast<std::uint64_t>(latest_start_) -
                                                     static_cast<std::uint64_t>(reordered_.front().event.start) <
                                                 chunk_.back)) {
      if (!decode(event)) break;
      latest_start_ = std::max(latest_start_, event.start);
      reordered_.push_back({event, decoded_});
      std::push_heap(reordered_.begin(), reordered_.end(), StartsLater());
    }
    if (reordered_.empty()) return false;
    std::pop_heap(reordered_.begin(), reordered_.end(), StartsLater());
    event_ = reordered_.back().event;
    reordered_.pop_back();
  }
  if (event_.start < last_returned_start_) {
    reordered_.clear();
    --decoded_;
    return fail("an event that lies further back than its header says");
  }
  last_returned_start_ = event_.start;
  event_.start = number(static_cast<std::uint64_t>(event_.start) + shift_);
  return true;
}

}  // namespace plait::trace::binary
