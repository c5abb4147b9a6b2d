#include "trace/formats/text1992/state.hpp"

#include <algorithm>

namespace plait::trace::text1992 {

FileState& State::move_to_front(ProcessState& process, std::uint32_t number, bool& was_remembered) {
  std::vector<FileState>& files = process.files;
  const auto entry =
      std::find_if(files.begin(), files.end(), [&](const FileState& file) { return file.number == number; });
  was_remembered = entry != files.end();
  if (was_remembered) {
    std::rotate(files.begin(), entry, entry + 1);
    return files.front();
  }
  if (files.size() == kFiles) {
    files.pop_back();
    process.has_dropped_files = true;
  }
  FileState added;
  added.number = number;
  added.defaults = process.defaults;
  return *files.insert(files.begin(), added);
}

void State::add_record(ProcessState& process, FileState& file, std::int64_t offset, std::int64_t length,
                       std::uint64_t operation) {
  file.length = length;
  if (__builtin_add_overflow(offset, length, &file.next)) file.next = -1;
  file.operation = operation;
  process.file = file.number;
  process.defaults = file.defaults;
  process.has_record = true;
  last_process_ = process.number;
  has_record_ = true;
}

}  // namespace plait::trace::text1992
