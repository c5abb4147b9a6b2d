#include "trace/report/lookup.hpp"

#include <functional>

#include "base/text.hpp"

namespace plait::trace::report {

void Lookup::update() {
  for (; processes_seen_ < description_.processes.size(); ++processes_seen_) {
    const Process& described = description_.processes[processes_seen_];
    const std::uint32_t index = process(described.number);
    processes_[index] = described;
  }
  for (; files_seen_ < description_.files.size(); ++files_seen_) {
    const File& file = description_.files[files_seen_];
    const std::uint64_t key = std::uint64_t{file.process} << 32 | file.number;
    const auto fresh = static_cast<std::uint32_t>(names_of_opens_.size());
    const std::uint32_t open = open_numbers_.get(key, fresh);
    if (open != fresh) {  // an event came before the name
      if (!file.name.empty()) names_of_opens_[open] = find_name(file.name, static_cast<std::uint32_t>(files_seen_));
      continue;
    }
    const std::string& text = file.name;
    names_of_opens_.push_back(text.empty()
                                  ? find_name(base::text("file ", file.number, " of process ", file.process), kOwn)
                                  : find_name(text, static_cast<std::uint32_t>(files_seen_)));
  }
}

std::uint32_t Lookup::process(std::uint32_t number) {
  if (last_process_ != FlatMap::kNone && number == last_process_number_) return last_process_;
  const auto fresh = static_cast<std::uint32_t>(processes_.size());
  last_process_number_ = number;
  last_process_ = process_numbers_.get(number, fresh);
  if (last_process_ == fresh) {
    processes_.emplace_back();
    processes_.back().number = number;
  }
  return last_process_;
}

std::uint32_t Lookup::open(std::uint32_t process, std::uint32_t file) {
  const std::uint64_t key = std::uint64_t{process} << 32 | file;
  if (key == last_open_key_) return last_open_;
  const auto fresh = static_cast<std::uint32_t>(names_of_opens_.size());
  last_open_key_ = key;
  last_open_ = open_numbers_.get(key, fresh);
  if (last_open_ == fresh)
    names_of_opens_.push_back(find_name(base::text("file ", file, " of process ", process), kOwn));
  return last_open_;
}

const std::string& Lookup::text(std::uint32_t name) const {
  const std::uint32_t entry = names_[name];
  return entry >= kOwn ? own_names_[entry - kOwn] : description_.files[entry].name;
}

std::uint32_t Lookup::find_name(const std::string& text, std::uint32_t file) {
  for (std::uint64_t key = std::hash<std::string>{}(text);; key = key * 6364136223846793005u + 1) {
    const auto fresh = static_cast<std::uint32_t>(names_.size());
    const std::uint32_t name = name_numbers_.get(key, fresh);
    if (name == fresh) {
      if (file == kOwn) {
        names_.push_back(kOwn + static_cast<std::uint32_t>(own_names_.size()));
        own_names_.push_back(text);
      } else {
        names_.push_back(file);
      }
      return fresh;
    }
    if (this->text(name) == text) return name;
  }
}

}  // namespace plait::trace::report
