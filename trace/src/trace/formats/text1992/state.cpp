#include "trace/formats/text1992/state.hpp"

#include <algorithm>

namespace plait::trace::text1992 {

FileState& State::touch(ProcessState& process, std::uint32_t number, bool& was_remembered) {
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
    process.dropped = true;
  }
  FileState added;
  added.number = number;
  added.manner = process.manner;
  return *files.insert(files.begin(), added);
}

void State::pass(ProcessState& process, FileState& file, std::int64_t offset, std::int64_t length,
                 std::uint64_t operation) {
  file.length = length;
  if (__builtin_add_overflow(offset, length, &file.next)) file.next = -1;
  file.operation = operation;
  process.file = file.number;
  process.manner = file.manner;
  process.has_record = true;
  last_process_ = process.number;
  has_record_ = true;
}

}  // namespace plait::trace::text1992
