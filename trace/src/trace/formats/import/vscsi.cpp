// Reads the traces of SCSI commands that VMware's monitor of virtual machines writes.

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/import/block.hpp"
#include "trace/formats/import/import.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

// Records in little-endian order, as libCacheSim's traceReader/customizedReader/vscsi.h declares them:
//   version 1, 32 bytes: u32 serial, u32 bytes, u32 segments, u16 command, u16 version, u64 block, u64 time in us
//   version 2, 40 bytes: u16 command, u16 version, u32 serial, u32 bytes, u32 segments, u64 block, u64 time, u64
//   response
// The version is the upper byte of its field. Commands are SCSI commands, blocks have 512 bytes, and times are those
// of the issue.
constexpr std::size_t kRecordBytes1 = 32;
constexpr std::size_t kRecordBytes2 = 40;

/// Returns the kind of a SCSI command; -1 if it is none of READ, WRITE and SYNCHRONIZE CACHE.
int command_kind(unsigned command) {
  switch (command & 0xff) {
    case 0x08:
    case 0x28:
    case 0xa8:
    case 0x88: return static_cast<int>(Kind::kRead);
    case 0x0a:
    case 0x2a:
    case 0xaa:
    case 0x8a: return static_cast<int>(Kind::kWrite);
    case 0x35:
    case 0x91: return static_cast<int>(Kind::kSync);
    default: return -1;
  }
}

/// Returns 1, 2, or 0 if the bytes are neither version.
int detect_version(std::string_view head) {
  const auto fits_version = [&](std::size_t bytes, std::size_t at, unsigned version, std::size_t command) {
    const std::size_t records = std::min<std::size_t>(head.size() / bytes, 16);
    bool has_known_command = false;
    for (std::size_t k = 0; k < records; ++k) {
      if (get<std::uint16_t>(head, k * bytes + at) >> 8 != version) return false;
      has_known_command = has_known_command || command_kind(get<std::uint16_t>(head, k * bytes + command)) >= 0;
    }
    return records > 0 && has_known_command;
  };
  if (fits_version(kRecordBytes2, /*at=*/2, /*version=*/2, /*command=*/0)) return 2;
  return fits_version(kRecordBytes1, /*at=*/14, /*version=*/1, /*command=*/12) ? 1 : 0;
}

class VscsiReader final : public Import {
 public:
  VscsiReader(std::unique_ptr<Source> source, const ReadOptions& options)
      : Import(std::move(source), "vscsi", /*slack=*/1024, /*window=*/1 << 16),
        tick_(options.tick > 0 ? options.tick : 1000),
        block_(std::max<std::int64_t>(options.block, 1)) {
    const std::string_view head = this->source().peek(16 * kRecordBytes2);
    version_ = detect_version(head);
    if (version_ == 0 && !head.empty())
      base::throw_argument_error(this->source().name(),
                                 " is not a vscsi trace: its records, of 32 or 40 "
                                 "bytes, are of neither version 1 nor version 2");
    description_.tick = tick_;
    add_process(1);
    description_.files.push_back({1, 1, "disk"});
  }

 private:
  bool advance() override {
    const std::size_t bytes = version_ == 2 ? kRecordBytes2 : kRecordBytes1;
    const std::string_view record = source().take(bytes);
    if (record.size() < bytes) {
      if (!record.empty()) {
        description_.complete = false;
        note(base::text("the last record is cut off after ", record.size(), " bytes of ", bytes));
      }
      return false;
    }
    ++record_count_;
    const bool is_version_2 = version_ == 2;
    const auto command = get<std::uint16_t>(record, is_version_2 ? 0 : 12);
    const std::uint64_t time = get<std::uint64_t>(record, 24);
    const std::uint64_t block = get<std::uint64_t>(record, 16);
    const std::uint64_t response = is_version_2 ? get<std::uint64_t>(record, 32) : 0;
    const int kind = command_kind(command);
    if (kind < 0 || get<std::uint16_t>(record, is_version_2 ? 2 : 14) >> 8 != static_cast<unsigned>(version_)) {
      ++other_commands_;
      other_commands_with_data_ += get<std::uint32_t>(record, is_version_2 ? 8 : 4) > 0 ? 1 : 0;
      return true;
    }
    const auto scaled = [](std::uint64_t value, std::int64_t unit) {
      const auto limit = static_cast<std::uint64_t>(kMaxValue / unit);
      return static_cast<std::int64_t>(std::min(value, limit)) * unit;
    };
    Event event;
    const std::int64_t start = scaled(time, tick_);
    if (record_count_ - other_commands_ == 1) first_time_ = start;
    event.start = std::max<std::int64_t>(start - first_time_, 0);
    event.kind = static_cast<Kind>(kind);
    event.interface = Interface::kBlock;
    event.flags = 0;
    event.process = event.thread = event.file = 1;
    if (is_version_2) event.duration = scaled(response, tick_);
    if (event.kind != Kind::kSync) {
      event.offset = scaled(block, block_);
      event.length = event.result = get<std::uint32_t>(record, is_version_2 ? 8 : 4);
      event.operation = ++operations_;
    }
    put(event);
    return true;
  }

  void finish() override {
    if (other_commands_with_data_ > 0)
      description_.missed.push_back(
          {"requests of other SCSI commands that move data", other_commands_with_data_, 0, 0});
    if (other_commands_ > 0)
      note(count_text(other_commands_, "record of another SCSI command is left out",
                      "records of other SCSI commands are left out"));
    if (version_ == 1) note("version 1 of vscsi does not tell how long requests took");
  }

  std::int64_t tick_;
  std::int64_t block_;
  int version_ = 0;
  std::int64_t record_count_ = 0;
  std::int64_t other_commands_ = 0;
  std::int64_t other_commands_with_data_ = 0;
  std::int64_t first_time_ = 0;
  std::uint64_t operations_ = 0;
};

bool recognise(std::string_view head) { return head.size() >= 2 * kRecordBytes2 && detect_version(head) != 0; }

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<VscsiReader>(std::move(source), options);
}

}  // namespace

Format vscsi_format() { return {.name = "vscsi", .suffix = "", .recognise = recognise, .open = open}; }

}  // namespace plait::trace
