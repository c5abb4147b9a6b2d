#include "trace/formats/binary/writer.hpp"

#include <algorithm>
#include <cstring>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/binary/part.hpp"
#include "trace/formats/binary/records.hpp"
#include "trace/words.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::size_t kContentBytes = PLAIT_TRACE_LARGEST / 4 - sizeof(plait_chunk);
constexpr std::size_t kMaxRecordBytes = PLAIT_TRACE_LARGEST - sizeof(plait_chunk);

void put_number(std::string& to, std::uint64_t value) {
  unsigned char encoded[10];
  const unsigned char* end = plait_put_varint(encoded, value);
  to.append(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(end - encoded));
}

void put_signed(std::string& to, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  put_number(to, (bits << 1U) ^ (0 - (bits >> 63U)));
}

void put_text(std::string& to, const std::string& text) {
  put_number(to, text.size());
  to += text;
}

std::string_view object_bytes(const void* object, std::size_t size) { return {static_cast<const char*>(object), size}; }

}  // namespace

BinaryWriter::BinaryWriter(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {
  std::string page(PLAIT_TRACE_HEADER, '\0');
  plait_trace_header header{};
  std::memcpy(header.magic, PLAIT_TRACE_MAGIC, sizeof header.magic);
  header.version = PLAIT_TRACE_VERSION;
  header.flags = PLAIT_TRACE_WRITTEN;
  header.family = 1;
  std::memcpy(page.data(), &header, sizeof header);
  sink_->put(page);
  begin_chunk(events_, PLAIT_CHUNK_EVENTS);
  begin_chunk(tables_, PLAIT_CHUNK_TABLES);
}

void BinaryWriter::begin_chunk(PartialChunk& chunk, std::uint32_t kind) {
  chunk.chunk = {};
  std::memcpy(chunk.chunk.magic, PLAIT_CHUNK_MAGIC, sizeof chunk.chunk.magic);
  chunk.chunk.kind = kind;
  chunk.bytes.resize(kContentBytes);
  chunk.used = 0;
}

void BinaryWriter::end_chunk(PartialChunk& chunk) {
  if (chunk.used == 0) return;
  const std::size_t unpadded_size = sizeof chunk.chunk + chunk.used;
  const std::size_t size = (unpadded_size + PLAIT_TRACE_UNIT - 1) / PLAIT_TRACE_UNIT * PLAIT_TRACE_UNIT;
  chunk.chunk.position = static_cast<std::uint64_t>(sink_->bytes());
  chunk.chunk.size = static_cast<std::uint32_t>(size);
  chunk.chunk.used = static_cast<std::uint32_t>(chunk.used);
  sink_->put(object_bytes(&chunk.chunk, sizeof chunk.chunk));
  sink_->put(object_bytes(chunk.bytes.data(), chunk.used));
  sink_->put(std::string(size - unpadded_size, '\0'));
  index_.push_back({chunk.chunk.position, chunk.chunk.size, chunk.chunk.kind, chunk.chunk.first, chunk.chunk.last,
                    chunk.chunk.events, 0});
  begin_chunk(chunk, chunk.chunk.kind);
}

void BinaryWriter::add_record(std::uint64_t type, const std::string& fields) {
  std::string encoded_record;
  put_number(encoded_record, type);
  put_text(encoded_record, fields);
  if (encoded_record.size() > kMaxRecordBytes)
    base::throw_argument_error("a name, command, note or reason of ", fields.size(),
                               " bytes is longer than a binary trace can hold, ", kMaxRecordBytes);
  if (tables_.used + encoded_record.size() > kContentBytes) end_chunk(tables_);
  if (encoded_record.size() > tables_.bytes.size()) tables_.bytes.resize(encoded_record.size());
  std::memcpy(tables_.bytes.data() + tables_.used, encoded_record.data(), encoded_record.size());
  tables_.used += encoded_record.size();
}

void BinaryWriter::add(const Process& process) {
  std::string fields;
  put_number(fields, process.number);
  put_number(fields, process.parent);
  put_signed(fields, process.rank);
  put_signed(fields, process.cpu);
  put_text(fields, process.host);
  put_text(fields, process.command);
  add_record(kProcessRecord, fields);
}

void BinaryWriter::add(const File& file) {
  std::string fields;
  put_number(fields, file.process);
  put_number(fields, file.number);
  put_text(fields, file.name);
  add_record(kFileRecord, fields);
}

void BinaryWriter::write_event(const Event& event) {
  if (static_cast<std::size_t>(event.kind) >= kKinds || static_cast<std::size_t>(event.interface) >= kInterfaces)
    base::throw_argument_error("an event's kind is ", int(event.kind), " and its interface ", int(event.interface),
                               "; a binary trace holds kinds up to ", kKinds - 1, " and interfaces up to ",
                               kInterfaces - 1);
  if (kContentBytes - events_.used < PLAIT_TRACE_LONGEST) end_chunk(events_);
  plait_chunk& chunk = events_.chunk;
  const std::pair thread(event.process, event.thread);
  if (events_.used == 0) {
    chunk.base = chunk.first = chunk.last = latest_start_ = event.start;
    context_indices_.clear();
    used_contexts_ = 0;
  }
  unsigned char* cursor = events_.bytes.data() + events_.used;
  if (used_contexts_ == 0 || thread != current_thread_) {
    auto entry = context_indices_.find(thread);
    if (entry == context_indices_.end()) {
      if (used_contexts_ == PLAIT_TRACE_CONTEXTS) {
        end_chunk(events_);
        return write_event(event);
      }
      if (used_contexts_ == contexts_.size()) contexts_.push_back(std::make_unique<plait_delta>());
      plait_delta_begin(contexts_[used_contexts_].get(), chunk.base);
      entry = context_indices_.emplace(thread, static_cast<std::uint32_t>(used_contexts_++)).first;
      // Readers begin a chunk with one context, which the first thread uses.
      *cursor++ = used_contexts_ == 1 ? PLAIT_TAG_RENEW : PLAIT_TAG_NEW;
      cursor = plait_put_varint(cursor, event.process);
      cursor = plait_put_varint(cursor, event.thread);
    } else if (entry->second <= PLAIT_TAG_CONTEXT_LAST - PLAIT_TAG_CONTEXT) {
      *cursor++ = static_cast<unsigned char>(PLAIT_TAG_CONTEXT + entry->second);
    } else {
      *cursor++ = PLAIT_TAG_SWITCH;
      cursor = plait_put_varint(cursor, entry->second);
    }
    current_context_ = entry->second;
    current_thread_ = thread;
  }
  plait_event raw;
  raw.start = event.start;
  raw.duration = event.duration;
  raw.offset = event.offset;
  raw.length = event.length;
  raw.result = event.result;
  raw.operation = event.operation;
  raw.file = event.file;
  raw.kind = static_cast<std::uint8_t>(event.kind);
  raw.interface = static_cast<std::uint8_t>(event.interface);
  raw.flags = event.flags;
  cursor = plait_delta_put(contexts_[current_context_].get(), cursor, &raw, event.cpu);
  events_.used = static_cast<std::size_t>(cursor - events_.bytes.data());
  chunk.first = std::min(chunk.first, event.start);
  chunk.last = std::max(chunk.last, event.start);
  if (event.start >= latest_start_)
    latest_start_ = event.start;
  else
    chunk.back =
        std::max(chunk.back, static_cast<std::uint64_t>(latest_start_) - static_cast<std::uint64_t>(event.start));
  ++chunk.events;
}

void BinaryWriter::write(std::span<const Event> events) {
  for (const Event& event : events) write_event(event);
}

void BinaryWriter::finish(const Description& description) {
  end_chunk(events_);
  for (const MissedCalls& missed : description.missed) {
    std::string fields;
    put_signed(fields, missed.events);
    put_signed(fields, missed.read_bytes);
    put_signed(fields, missed.written_bytes);
    put_text(fields, missed.reason);
    add_record(kMissedRecord, fields);
  }
  for (const Counters& counters : description.counters) {
    std::string fields;
    put_number(fields, counters.process);
    put_number(fields, counters.file);
    put_number(fields, static_cast<std::uint64_t>(counters.interface));
    put_number(fields, counters.flags);
    put_number(fields, counters.values.size());
    for (const auto& [name, value] : counters.values) {
      put_text(fields, name);
      put_signed(fields, value);
    }
    add_record(kCountersRecord, fields);
  }
  for (const std::string& note : description.notes) {
    std::string fields;
    put_text(fields, note);
    add_record(kNoteRecord, fields);
  }
  std::string fields;
  put_signed(fields, description.zero);
  put_signed(fields, description.tick);
  put_number(fields, description.complete ? 1 : 0);
  add_record(kEndRecord, fields);
  end_chunk(tables_);
  write_index();
  sink_->finish();
}

void BinaryWriter::write_index() {
  const std::size_t used = index_.size() * sizeof index_[0];
  plait_chunk chunk{};
  const std::size_t unpadded_size = sizeof chunk + used + sizeof(Trailer);
  const std::size_t size = (unpadded_size + PLAIT_TRACE_UNIT - 1) / PLAIT_TRACE_UNIT * PLAIT_TRACE_UNIT;
  std::memcpy(chunk.magic, PLAIT_CHUNK_MAGIC, sizeof chunk.magic);
  chunk.kind = PLAIT_CHUNK_INDEX;
  chunk.position = static_cast<std::uint64_t>(sink_->bytes());
  chunk.size = static_cast<std::uint32_t>(size);
  chunk.used = static_cast<std::uint32_t>(used);
  Trailer trailer;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof trailer.magic);
  trailer.entries = static_cast<std::uint32_t>(index_.size());
  trailer.position = chunk.position;
  trailer.checksum = compute_checksum(index_.data(), used);
  sink_->put(object_bytes(&chunk, sizeof chunk));
  sink_->put(object_bytes(index_.data(), used));
  sink_->put(std::string(size - unpadded_size, '\0'));
  sink_->put(object_bytes(&trailer, sizeof trailer));
}

std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions&) {
  return std::make_unique<BinaryWriter>(std::move(sink));
}

}  // namespace plait::trace::binary
