// Merges the events of all chunks in the order of their start times.
//
// Problem: each thread writes its own chunks, so that chunks overlap in time, and a trace has too many chunks to
// decode all at once.
//
// Idea: the index contains the first start time of each chunk. A chunk is opened only when its first start time is
// not after the next event of all open chunks. The open streams form a heap, except the one that had the last event,
// because it mostly has the next one too.
//
// Example: chunk A starts at 10 and chunk B at 15. Only A is opened until its next event starts at 15 or later. Then
// B is opened, and the events alternate until one chunk has ended.

#include "trace/formats/binary/reader.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace plait::trace::binary {

BinaryReader::BinaryReader(std::vector<Part> parts) : parts_(std::move(parts)) {
  description_.format = "plait";
  const Part& first = parts_.front();
  if (!first.written()) description_.zero = first.header().real;
  tables_ = std::make_unique<Tables>(parts_, description_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    bytes_ += static_cast<std::int64_t>(part.blob().size());
    if (i > 0)
      description_.notes.push_back(base::text("the events of the host ", part.host(), " come from ", part.name()));
    const auto shift = static_cast<std::uint64_t>(part.written() ? 0 : part.shift(first));
    const auto in_trace_time = [shift](std::int64_t time) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + shift);
    };
    for (const ChunkEntry& entry : part.chunks())
      if (entry.kind == PLAIT_CHUNK_EVENTS)
        waiting_.push_back(
            {in_trace_time(entry.first), in_trace_time(entry.last), static_cast<std::uint32_t>(i), entry});
    if (part.strange_bytes() > 0) {
      description_.complete = false;
      description_.notes.push_back(base::text(part.strange_bytes(), " bytes of ", part.name(), " from byte ",
                                              part.strange_at(), " on are no chunk that can be read"));
    }
    if (part.missing_bytes() > 0) {
      description_.complete = false;
      description_.notes.push_back(
          base::text(part.missing_bytes(), " bytes at the end of ", part.name(),
                     " were given out and are not there: the disk was full, or the file was cut"));
    }
  }
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const QueuedChunk& a, const QueuedChunk& b) { return a.first < b.first; });
}

void BinaryReader::between(std::int64_t begin, std::int64_t end) {
  begin_ = begin;
  end_ = end;
  std::erase_if(waiting_, [&](const QueuedChunk& chunk) { return chunk.last < begin || is_past(chunk.first); });
}

bool BinaryReader::after(const StreamPointer& a, const StreamPointer& b) noexcept {
  return a->event().start != b->event().start ? a->event().start > b->event().start : a->order() > b->order();
}

void BinaryReader::close(const Stream& stream) {
  if (stream.damage().empty()) return;
  description_.complete = false;
  damaged_.add(description_, stream.damage());
  if (stream.lost() == 0) return;
  if (lost_ == 0) {
    lost_offset_ = description_.missed.size();
    description_.missed.push_back({"events in damaged parts of the trace", 0, 0, 0});
  }
  lost_ += stream.lost();
  description_.missed[lost_offset_].events = lost_;
}

void BinaryReader::open(const QueuedChunk& waiting, std::uint64_t order) {
  const Part& part = parts_[waiting.part];
  bytes_read_ += waiting.entry.size;
  auto stream =
      std::make_unique<Stream>(part, waiting.entry, order, *tables_, part.written() ? 0 : part.shift(parts_.front()));
  if (!stream->next()) return close(*stream);
  open_.push_back(std::move(stream));
  std::push_heap(open_.begin(), open_.end(), after);
}

// Finds the next event of all streams. Continues with the current stream until another has an earlier event.
bool BinaryReader::advance(Event& event) {
  if (current_ != nullptr && !current_->next()) {
    close(*current_);
    current_.reset();
  }
  while (true) {
    const std::int64_t head = current_ != nullptr ? current_->event().start
                              : open_.empty()     ? INT64_MAX
                                                  : open_.front()->event().start;
    if (next_ < waiting_.size() && (waiting_[next_].first <= head || (current_ == nullptr && open_.empty()))) {
      // If starts are equal, the chunk that was written first comes first.
      open(waiting_[next_], std::uint64_t{waiting_[next_].part} << 56U | waiting_[next_].entry.position);
      ++next_;
      continue;
    }
    break;
  }
  if (!open_.empty() && (current_ == nullptr || after(current_, open_.front()))) {
    if (current_ != nullptr) {
      std::pop_heap(open_.begin(), open_.end(), after);
      std::swap(open_.back(), current_);
      std::push_heap(open_.begin(), open_.end(), after);
    } else {
      std::pop_heap(open_.begin(), open_.end(), after);
      current_ = std::move(open_.back());
      open_.pop_back();
    }
  }
  if (current_ == nullptr) return false;
  event = current_->event();
  return true;
}

std::size_t BinaryReader::read(std::span<Event> output) {
  std::size_t count = 0;
  while (count < output.size() && advance(output[count])) {
    if (is_past(output[count].start)) {  // all later events start past the end, too
      current_.reset();
      open_.clear();
      next_ = waiting_.size();
      break;
    }
    if (output[count].start >= begin_) ++count;
  }
  if (count == 0) bytes_read_ = bytes_;
  return count;
}

std::unique_ptr<Reader> open_source(std::unique_ptr<Source> source, const ReadOptions&) {
  const bool file = source->file() >= 0;
  std::vector<Part> parts;
  parts.emplace_back(source->name(), file ? open_blob(*source) : spool(*source));
  if (file && !parts.front().written())
    for (Sibling& other : find_siblings(source->path(), parts.front().header().family))
      parts.emplace_back(std::move(other.path), std::move(other.blob));
  return std::make_unique<BinaryReader>(std::move(parts));
}

}  // namespace plait::trace::binary
