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
  if (!first.is_written()) description_.zero = first.header().real;
  tables_ = std::make_unique<Tables>(parts_, description_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    bytes_ += static_cast<std::int64_t>(part.blob().size());
    if (i > 0)
      description_.notes.push_back(base::text("the events of the host ", part.host(), " come from ", part.name()));
    const auto shift = static_cast<std::uint64_t>(part.is_written() ? 0 : part.time_shift(first));
    const auto in_trace_time = [shift](std::int64_t time) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + shift);
    };
    for (const ChunkEntry& entry : part.chunks())
      if (entry.kind == PLAIT_CHUNK_EVENTS)
        queued_chunks_.push_back(
            {in_trace_time(entry.first), in_trace_time(entry.last), static_cast<std::uint32_t>(i), entry});
    if (part.unrecognised_bytes() > 0) {
      description_.complete = false;
      description_.notes.push_back(base::text(part.unrecognised_bytes(), " bytes of ", part.name(), " from byte ",
                                              part.first_unrecognised(), " on are no chunk that can be read"));
    }
    if (part.missing_bytes() > 0) {
      description_.complete = false;
      description_.notes.push_back(
          base::text(part.missing_bytes(), " bytes at the end of ", part.name(),
                     " were given out and are not there: the disk was full, or the file was cut"));
    }
  }
  std::stable_sort(queued_chunks_.begin(), queued_chunks_.end(),
                   [](const QueuedChunk& a, const QueuedChunk& b) { return a.first < b.first; });
}

void BinaryReader::restrict_to(std::int64_t begin, std::int64_t end) {
  begin_ = begin;
  end_ = end;
  std::erase_if(queued_chunks_, [&](const QueuedChunk& chunk) { return chunk.last < begin || is_past(chunk.first); });
}

bool BinaryReader::starts_after(const StreamPointer& a, const StreamPointer& b) noexcept {
  return a->event().start != b->event().start ? a->event().start > b->event().start : a->order() > b->order();
}

void BinaryReader::close(const Stream& stream) {
  if (stream.damage().empty()) return;
  description_.complete = false;
  damage_remarks_.add(description_, stream.damage());
  if (stream.lost() == 0) return;
  if (lost_events_ == 0) {
    lost_entry_ = description_.missed.size();
    description_.missed.push_back({"events in damaged parts of the trace", 0, 0, 0});
  }
  lost_events_ += stream.lost();
  description_.missed[lost_entry_].events = lost_events_;
}

void BinaryReader::open(const QueuedChunk& chunk, std::uint64_t order) {
  const Part& part = parts_[chunk.part];
  bytes_read_ += chunk.entry.size;
  auto stream = std::make_unique<Stream>(part, chunk.entry, order, *tables_,
                                         part.is_written() ? 0 : part.time_shift(parts_.front()));
  if (!stream->next()) return close(*stream);
  open_streams_.push_back(std::move(stream));
  std::push_heap(open_streams_.begin(), open_streams_.end(), starts_after);
}

// Finds the next event of all streams. Continues with the current stream until another has an earlier event.
bool BinaryReader::advance(Event& event) {
  if (current_ != nullptr && !current_->next()) {
    close(*current_);
    current_.reset();
  }
  while (true) {
    const std::int64_t head = current_ != nullptr     ? current_->event().start
                              : open_streams_.empty() ? INT64_MAX
                                                      : open_streams_.front()->event().start;
    if (next_chunk_ < queued_chunks_.size() &&
        (queued_chunks_[next_chunk_].first <= head || (current_ == nullptr && open_streams_.empty()))) {
      // If starts are equal, the chunk that was written first comes first.
      open(queued_chunks_[next_chunk_],
           std::uint64_t{queued_chunks_[next_chunk_].part} << 56U | queued_chunks_[next_chunk_].entry.position);
      ++next_chunk_;
      continue;
    }
    break;
  }
  if (!open_streams_.empty() && (current_ == nullptr || starts_after(current_, open_streams_.front()))) {
    if (current_ != nullptr) {
      std::pop_heap(open_streams_.begin(), open_streams_.end(), starts_after);
      std::swap(open_streams_.back(), current_);
      std::push_heap(open_streams_.begin(), open_streams_.end(), starts_after);
    } else {
      std::pop_heap(open_streams_.begin(), open_streams_.end(), starts_after);
      current_ = std::move(open_streams_.back());
      open_streams_.pop_back();
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
      open_streams_.clear();
      next_chunk_ = queued_chunks_.size();
      break;
    }
    if (output[count].start >= begin_) ++count;
  }
  if (count == 0) bytes_read_ = bytes_;
  return count;
}

std::unique_ptr<Reader> open_source(std::unique_ptr<Source> source, const ReadOptions&) {
  const bool is_file = source->file() >= 0;
  std::vector<Part> parts;
  parts.emplace_back(source->name(), is_file ? open_blob(*source) : spool(*source));
  if (is_file && !parts.front().is_written())
    for (Sibling& other : find_siblings(source->path(), parts.front().header().family))
      parts.emplace_back(std::move(other.path), std::move(other.blob));
  return std::make_unique<BinaryReader>(std::move(parts));
}

}  // namespace plait::trace::binary
