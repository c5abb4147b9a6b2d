// The processes and names of a trace, from all chunks except those of events.
//
// Chunks are in the order of their allocation, so a chunk of names is not interpreted when it is read. It is stored
// until all chunks were read, when its image is known.

#include "trace/formats/binary/tables.hpp"

#include <algorithm>
#include <cstring>

#include "trace/formats/binary/bytes.hpp"
#include "trace/formats/binary/records.hpp"
#include "trace/words.hpp"

namespace plait::trace::binary {

namespace {

// Reads the content of a chunk, or the part of it that exists.
std::string read_content(const Part& part, const plait_chunk& chunk) {
  std::string content(std::min<std::size_t>(chunk.used, chunk.size - sizeof chunk), '\0');
  content.resize(part.blob().read(chunk.position + sizeof chunk, content.data(), content.size()));
  return content;
}

bool read_counters(Fields& fields, Description& description) {
  Counters counters;
  counters.process = fields.read_uint32();
  counters.file = fields.read_uint32();
  const std::uint64_t interface = fields.read_number();
  const std::uint64_t flags = fields.read_number();
  if (interface >= kInterfaces || flags > UINT16_MAX) return false;
  counters.interface = static_cast<Interface>(interface);
  counters.flags = static_cast<std::uint16_t>(flags);
  for (std::uint64_t left = fields.read_number(); left > 0 && fields.is_valid(); --left) {
    std::string name(fields.read_text());
    const std::int64_t value = fields.read_signed();
    counters.values.emplace_back(std::move(name), value);
  }
  if (fields.is_valid()) description.counters.push_back(std::move(counters));
  return fields.is_valid();
}

}  // namespace

Tables::Tables(const std::vector<Part>& parts, Description& description) : description_(description), parts_(parts) {
  for (const Part& part : parts) read(part);
  for (const NamesChunk& chunk : names_chunks_) {
    const auto entry = images_.find(make_key(*chunk.part, chunk.process, chunk.image));
    if (entry != images_.end()) read_names(entry->second, chunk.content, chunk.position);
  }
  names_chunks_.clear();
  for (const auto& [where, account] : accounts_)
    if (const auto entry = images_.find(where); entry != images_.end()) entry->second.account = account;
  number_processes();
  sum_missed();
  for (const Part& part : parts)
    if (part.is_written() && !(part.has_end() && has_end_record_)) {
      description_.complete = false;
      description_.notes.push_back(base::text("the trace ", part.name(), " has no end: it was cut off"));
    }
}

void Tables::read(const Part& part) {
  for (const ChunkEntry& entry : part.chunks()) {
    if (entry.kind == PLAIT_CHUNK_EVENTS || entry.kind == PLAIT_CHUNK_INDEX) continue;
    plait_chunk chunk;
    if (!part.read_chunk(entry.position, chunk) || chunk.kind != entry.kind) {
      description_.complete = false;
      damage_remarks_.add(description_, base::text("the chunk at byte ", entry.position, " of ", part.name(),
                                                   " is damaged: its header differs from the index"));
      continue;
    }
    std::string content = read_content(part, chunk);
    if (content.size() < chunk.used) {
      description_.complete = false;
      damage_remarks_.add(description_,
                          base::text("the chunk at byte ", entry.position, " of ", part.name(), " is cut off"));
    }
    if (chunk.kind == PLAIT_CHUNK_PROCESS)
      read_process(part, chunk, content);
    else if (chunk.kind == PLAIT_CHUNK_NAMES)
      names_chunks_.push_back({&part, chunk.process, chunk.image, chunk.position, std::move(content)});
    else if (chunk.kind == PLAIT_CHUNK_TABLES)
      read_tables(content, part, chunk.position);
    else if (chunk.kind == PLAIT_CHUNK_ACCOUNT)
      read_account(part, chunk, content);
  }
}

void Tables::read_process(const Part& part, const plait_chunk& chunk, std::string_view content) {
  Image image;
  if (content.size() < sizeof image.block) {
    damage_remarks_.add(description_, base::text("the description of process ", chunk.process, " at byte ",
                                                 chunk.position, " of ", part.name(), " is cut off"));
    description_.complete = false;
    return;
  }
  std::memcpy(&image.block, content.data(), sizeof image.block);
  content.remove_prefix(sizeof image.block);
  const std::size_t command = std::min<std::size_t>(image.block.command_bytes, content.size());
  image.command = content.substr(0, command);
  content.remove_prefix(command);
  image.part = &part;
  image.id = chunk.process;
  image.begin = chunk.image;
  Image& stored_image =
      images_.insert_or_assign(make_key(part, chunk.process, chunk.image), std::move(image)).first->second;
  read_names(stored_image, content, chunk.position);
}

void Tables::read_names(Image& image, std::string_view content, std::uint64_t position) {
  Fields fields(content);
  while (!fields.empty()) {
    const std::uint32_t number = fields.read_uint32();
    const std::string_view name = fields.read_text();
    if (!fields.is_valid()) {
      description_.complete = false;
      damage_remarks_.add(description_,
                          base::text("the names at byte ", position, " of ", image.part->name(), " are damaged"));
      return;
    }
    if (!unrecorded_.count_run(name) && !read_reaped(image, name)) image.names.emplace_back(number, name);
  }
}

void Tables::read_tables(std::string_view content, const Part& part, std::uint64_t position) {
  Fields fields(content);
  while (!fields.empty()) {
    const std::uint64_t type = fields.read_number();
    const std::string_view record = fields.read_text();
    if (!fields.is_valid() || !read_record(type, record)) {
      description_.complete = false;
      damage_remarks_.add(description_, base::text("the table at byte ", position, " of ", part.name(), " is damaged"));
      return;
    }
  }
}

bool Tables::read_record(std::uint64_t type, std::string_view record) {
  Fields fields(record);
  if (type == kProcessRecord) {
    Process process;
    process.number = fields.read_uint32();
    process.parent = fields.read_uint32();
    process.rank = fields.read_signed();
    process.cpu = fields.read_signed();
    process.host = fields.read_text();
    process.command = fields.read_text();
    if (fields.is_valid()) description_.processes.push_back(std::move(process));
  } else if (type == kFileRecord) {
    File file;
    file.process = fields.read_uint32();
    file.number = fields.read_uint32();
    file.name = fields.read_text();
    if (fields.is_valid()) description_.files.push_back(std::move(file));
  } else if (type == kMissedRecord) {
    MissedCalls missed;
    missed.events = fields.read_signed();
    missed.read_bytes = fields.read_signed();
    missed.written_bytes = fields.read_signed();
    missed.reason = fields.read_text();
    if (fields.is_valid()) description_.missed.push_back(std::move(missed));
  } else if (type == kNoteRecord) {
    description_.notes.emplace_back(fields.read_text());
  } else if (type == kCountersRecord) {
    return read_counters(fields, description_);
  } else if (type == kEndRecord) {
    description_.zero = fields.read_signed();
    description_.tick = fields.read_signed();
    if (fields.read_number() == 0) description_.complete = false;
    has_end_record_ = fields.is_valid();
  }
  return fields.is_valid();
}

const Image* Tables::find_image(const Part& part, std::uint32_t process, std::uint64_t begin) const {
  const auto entry = images_.find(make_key(part, process, begin));
  return entry == images_.end() ? nullptr : &entry->second;
}

std::uint32_t Tables::find_file(const Image& image, std::uint32_t file) {
  if (file == 0) return 0;
  const std::uint32_t number = file + image.file_shift;
  const auto entry = std::lower_bound(image.numbers.begin(), image.numbers.end(), std::pair{file, std::uint32_t{0}});
  if (entry != image.numbers.end() && entry->first == file) return number;
  if (image.inherited.contains(file)) return number;
  for (const Image* parent = image.parent; parent != nullptr; parent = parent->parent) {
    const auto parent_entry =
        std::lower_bound(parent->numbers.begin(), parent->numbers.end(), std::pair{file, std::uint32_t{0}});
    if (parent_entry == parent->numbers.end() || parent_entry->first != file) continue;
    description_.files.push_back({image.number, number, description_.files[parent_entry->second].name});
    break;
  }
  image.inherited.emplace(file, number);
  return number;
}

std::uint64_t Tables::find_child(const Image& image, std::uint64_t id) const {
  std::uint64_t number = id;
  for (auto it = images_.lower_bound(make_key(*image.part, static_cast<std::uint32_t>(id), 0));
       it != images_.end() && it->second.part == image.part && it->second.id == id; ++it) {
    number = it->second.number;
    if (it->second.parent == &image) break;
  }
  return number;
}

}  // namespace plait::trace::binary
