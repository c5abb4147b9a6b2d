/// The values that records of the 1992 format omit, and the earlier records from which they are taken: a record may
/// leave out, for example, its offset if it begins where the previous one of its file ends.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plait/trace.hpp"

namespace plait::trace::text1992 {

/// Bits of the field recordType (Miller 1992, appendix, iotrace.h). The data type, 0x03, and the bits 0x08, 0x10,
/// 0x20 and 0x80 are those of Event::flags.
namespace record_type {
constexpr unsigned kWrite = 0x40;
constexpr unsigned kComment = 0xff;
constexpr unsigned kFlags = 0xbb;  ///< the bits that Event::flags shares
constexpr unsigned kUndefined = 0x04;
}  // namespace record_type

/// Bits of the field compression.
namespace compression {
constexpr unsigned kOffsetInBlocks = 0x01;
constexpr unsigned kLengthInBlocks = 0x02;
constexpr unsigned kNoLength = 0x04;
constexpr unsigned kNoProcess = 0x08;
constexpr unsigned kNoOperation = 0x20;
constexpr unsigned kNoBlock = 0x40;
constexpr unsigned kNoFile = 0x80;
constexpr unsigned kDefined = 0xef;
}  // namespace compression

/// Properties of the records of a file for which the format has no field. A comment states them when they change.
struct RecordDefaults {
  std::uint32_t thread = 0;
  std::uint16_t flags = 0;  ///< flags for which recordType has no bit
  Interface interface = Interface::kUnknown;
  bool cpu = true;       ///< true if the CPU time is known
  bool offset = true;    ///< true if the offset is known
  bool duration = true;  ///< true if the duration is known

  bool operator==(const RecordDefaults&) const = default;
};

/// The last record of a file, as written in the trace.
struct FileState {
  std::uint32_t number = 0;
  RecordDefaults defaults;
  std::uint64_t operation = 0;
  std::int64_t length = 0;
  std::int64_t next = 0;  ///< offset after the last byte; -1: past 2^63
};

/// The last record of a process.
struct ProcessState {
  std::uint32_t number = 0;
  std::uint32_t file = 0;
  std::int64_t cpu = 0;  ///< in ticks
  RecordDefaults defaults;
  bool has_record = false;
  bool has_dropped_files = false;  ///< true if `files` had more than kFiles, so that some were removed
  std::vector<FileState> files;    ///< the last used file is first
};

/// Number of files remembered for each process. If there are more, readers and writers both drop the least recently
/// used one.
constexpr std::size_t kFiles = 32;

/// The state that readers and writers both update with each record.
/// memory  about 100 bytes for each process, and 50 for each remembered file.
class State {
 public:
  /// Start of the last record, in ticks.
  std::int64_t start() const { return start_; }
  void set_start(std::int64_t ticks) { start_ = ticks; }
  /// Process of the last record; 0 before the first one.
  std::uint32_t last_process() const { return last_process_; }
  bool has_record() const { return has_record_; }

  ProcessState& process(std::uint32_t number) {
    if (current_ != nullptr && current_->number == number) return *current_;
    current_ = &processes_[number];  // references into the map stay valid
    current_->number = number;
    return *current_;
  }

  /// Moves a file to the front. A file that is not remembered is added, with the defaults of the process's last record.
  static FileState& move_to_front(ProcessState& process, std::uint32_t number, bool& was_remembered);

  /// Updates the state with a record.
  void add_record(ProcessState& process, FileState& file, std::int64_t offset, std::int64_t length,
                  std::uint64_t operation);

 private:
  std::int64_t start_ = 0;
  std::uint32_t last_process_ = 0;
  bool has_record_ = false;
  std::unordered_map<std::uint32_t, ProcessState> processes_;
  ProcessState* current_ = nullptr;
};

}  // namespace plait::trace::text1992
