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

bool take_counters(Fields& fields, Description& description) {
  Counters counters;
  counters.process = fields.small();
  counters.file = fields.small();
  const std::uint64_t interface = fields.number();
  const std::uint64_t flags = fields.number();
  if (interface >= kInterfaces || flags > UINT16_MAX) return false;
  counters.interface = static_cast<Interface>(interface);
  counters.flags = static_cast<std::uint16_t>(flags);
  for (std::uint64_t left = fields.number(); left > 0 && fields.good(); --left) {
    std::string name(fields.text());
    const std::int64_t value = fields.signed_number();
    counters.values.emplace_back(std::move(name), value);
  }
  if (fields.good()) description.counters.push_back(std::move(counters));
  return fields.good();
}

}  // namespace

Tables::Tables(const std::vector<Part>& parts, Description& description) : description_(description), parts_(parts) {
  for (const Part& part : parts) read(part);
  for (const NamesChunk& chunk : names_) {
    const auto entry = images_.find(key(*chunk.part, chunk.process, chunk.image));
    if (entry != images_.end()) take_names(entry->second, chunk.content, chunk.position);
  }
  names_.clear();
  for (const auto& [where, account] : accounts_)
    if (const auto entry = images_.find(where); entry != images_.end()) entry->second.account = account;
  number_processes();
  sum_missed();
  for (const Part& part : parts)
    if (part.written() && !(part.ended() && complete_)) {
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
      damaged_.add(description_, base::text("the chunk at byte ", entry.position, " of ", part.name(),
                                            " is damaged: its header differs from the index"));
      continue;
    }
    std::string content = read_content(part, chunk);
    if (content.size() < chunk.used) {
      description_.complete = false;
      damaged_.add(description_, base::text("the chunk at byte ", entry.position, " of ", part.name(), " is cut off"));
    }
    if (chunk.kind == PLAIT_CHUNK_PROCESS)
      take_process(part, chunk, content);
    else if (chunk.kind == PLAIT_CHUNK_NAMES)
      names_.push_back({&part, chunk.process, chunk.image, chunk.position, std::move(content)});
    else if (chunk.kind == PLAIT_CHUNK_TABLES)
      take_tables(content, part, chunk.position);
    else if (chunk.kind == PLAIT_CHUNK_ACCOUNT)
      take_account(part, chunk, content);
  }
}

void Tables::take_process(const Part& part, const plait_chunk& chunk, std::string_view content) {
  Image image;
  if (content.size() < sizeof image.block) {
    damaged_.add(description_, base::text("the description of process ", chunk.process, " at byte ", chunk.position,
                                          " of ", part.name(), " is cut off"));
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
  Image& stored_image = images_.insert_or_assign(key(part, chunk.process, chunk.image), std::move(image)).first->second;
  take_names(stored_image, content, chunk.position);
}

void Tables::take_names(Image& image, std::string_view content, std::uint64_t position) {
  Fields fields(content);
  while (!fields.empty()) {
    const std::uint32_t number = fields.small();
    const std::string_view name = fields.text();
    if (!fields.good()) {
      description_.complete = false;
      damaged_.add(description_,
                   base::text("the names at byte ", position, " of ", image.part->name(), " are damaged"));
      return;
    }
    if (!unrecorded_.take(name) && !take_reaped(image, name)) image.names.emplace_back(number, name);
  }
}

void Tables::take_tables(std::string_view content, const Part& part, std::uint64_t position) {
  Fields fields(content);
  while (!fields.empty()) {
    const std::uint64_t type = fields.number();
    const std::string_view record = fields.text();
    if (!fields.good() || !take_record(type, record)) {
      description_.complete = false;
      damaged_.add(description_, base::text("the table at byte ", position, " of ", part.name(), " is damaged"));
      return;
    }
  }
}

bool Tables::take_record(std::uint64_t type, std::string_view record) {
  Fields fields(record);
  if (type == kProcessRecord) {
    Process process;
    process.number = fields.small();
    process.parent = fields.small();
    process.rank = fields.signed_number();
    process.cpu = fields.signed_number();
    process.host = fields.text();
    process.command = fields.text();
    if (fields.good()) description_.processes.push_back(std::move(process));
  } else if (type == kFileRecord) {
    File file;
    file.process = fields.small();
    file.number = fields.small();
    file.name = fields.text();
    if (fields.good()) description_.files.push_back(std::move(file));
  } else if (type == kMissedRecord) {
    MissedCalls missed;
    missed.events = fields.signed_number();
    missed.read_bytes = fields.signed_number();
    missed.written_bytes = fields.signed_number();
    missed.reason = fields.text();
    if (fields.good()) description_.missed.push_back(std::move(missed));
  } else if (type == kNoteRecord) {
    description_.notes.emplace_back(fields.text());
  } else if (type == kCountersRecord) {
    return take_counters(fields, description_);
  } else if (type == kEndRecord) {
    description_.zero = fields.signed_number();
    description_.tick = fields.signed_number();
    if (fields.number() == 0) description_.complete = false;
    complete_ = fields.good();
  }
  return fields.good();
}

const Image* Tables::find_image(const Part& part, std::uint32_t process, std::uint64_t begin) const {
  const auto entry = images_.find(key(part, process, begin));
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
  for (auto it = images_.lower_bound(key(*image.part, static_cast<std::uint32_t>(id), 0));
       it != images_.end() && it->second.part == image.part && it->second.id == id; ++it) {
    number = it->second.number;
    if (it->second.parent == &image) break;
  }
  return number;
}

}  // namespace plait::trace::binary
