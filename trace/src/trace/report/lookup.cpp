// Numbers are assigned in the order in which processes, opens and names first appear, in events or in the description.

#include "trace/report/lookup.hpp"

#include <functional>

#include "base/text.hpp"

namespace plait::trace::report {

void Lookup::update() {
  for (; read_processes_ < description_.processes.size(); ++read_processes_) {
    const Process& described = description_.processes[read_processes_];
    const std::uint32_t index = process(described.number);
    processes_[index] = described;
  }
  for (; read_files_ < description_.files.size(); ++read_files_) {
    const File& file = description_.files[read_files_];
    const std::uint64_t key = std::uint64_t{file.process} << 32 | file.number;
    const auto next_number = static_cast<std::uint32_t>(names_of_opens_.size());
    const std::uint32_t open = open_numbers_.find_or_insert(key, next_number);
    if (open != next_number) {  // an event came before the name
      if (!file.name.empty()) names_of_opens_[open] = find_name(file.name, static_cast<std::uint32_t>(read_files_));
      continue;
    }
    const std::string& text = file.name;
    names_of_opens_.push_back(
        text.empty() ? find_name(base::text("file ", file.number, " of process ", file.process), kGeneratedName)
                     : find_name(text, static_cast<std::uint32_t>(read_files_)));
  }
}

std::uint32_t Lookup::process(std::uint32_t number) {
  if (last_process_ != FlatMap::kNone && number == last_process_number_) return last_process_;
  const auto next_number = static_cast<std::uint32_t>(processes_.size());
  last_process_number_ = number;
  last_process_ = process_numbers_.find_or_insert(number, next_number);
  if (last_process_ == next_number) {
    processes_.emplace_back();
    processes_.back().number = number;
  }
  return last_process_;
}

std::uint32_t Lookup::open(std::uint32_t process, std::uint32_t file) {
  const std::uint64_t key = std::uint64_t{process} << 32 | file;
  if (key == last_open_key_) return last_open_;
  const auto next_number = static_cast<std::uint32_t>(names_of_opens_.size());
  last_open_key_ = key;
  last_open_ = open_numbers_.find_or_insert(key, next_number);
  if (last_open_ == next_number)
    names_of_opens_.push_back(find_name(base::text("file ", file, " of process ", process), kGeneratedName));
  return last_open_;
}

const std::string& Lookup::text(std::uint32_t name) const {
  const std::uint32_t entry = names_[name];
  return entry >= kGeneratedName ? generated_names_[entry - kGeneratedName] : description_.files[entry].name;
}

std::uint32_t Lookup::find_name(const std::string& text, std::uint32_t file) {
  for (std::uint64_t key = std::hash<std::string>{}(text);; key = key * 6364136223846793005u + 1) {
    const auto next_number = static_cast<std::uint32_t>(names_.size());
    const std::uint32_t name = name_numbers_.find_or_insert(key, next_number);
    if (name == next_number) {
      if (file == kGeneratedName) {
        names_.push_back(kGeneratedName + static_cast<std::uint32_t>(generated_names_.size()));
        generated_names_.push_back(text);
      } else {
        names_.push_back(file);
      }
      return next_number;
    }
    if (this->text(name) == text) return name;
  }
}

}  // namespace plait::trace::report
