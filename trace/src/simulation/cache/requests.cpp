#include "simulation/cache/requests.hpp"

namespace plait::simulation {

namespace {

std::uint64_t open_key(std::uint32_t process, std::uint32_t number) { return std::uint64_t{process} << 32 | number; }

}  // namespace

void RequestReader::add(const trace::File& file) {
  std::uint32_t number = next_file_;
  if (file.name.empty()) {
    ++next_file_;
  } else {
    const auto [entry, is_new] = names_.try_emplace(file.name, next_file_);
    next_file_ += is_new ? 1 : 0;
    number = entry->second;
  }
  files_[open_key(file.process, file.number)] = number;
  has_last_open_ = false;
}

bool RequestReader::read(const trace::Event& event, FileRequest& request) {
  if (event.kind != trace::Kind::kRead && event.kind != trace::Kind::kWrite) return false;
  if (has_last_start_ && event.start < last_start_) ++oddities_.backwards;
  last_start_ = event.start;
  has_last_start_ = true;
  if (event.result < 0) {
    ++oddities_.failed;
  } else if (event.result == 0) {
    ++oddities_.empty;
  } else if (event.offset < 0) {
    ++oddities_.streams;
  } else if (event.result > kMaxRequestBytes || event.offset > kMaxRequestEnd - event.result) {
    ++oddities_.beyond;
  } else {
    request = {number_file(event.process, event.file), number_process(event.process), event.offset, event.result};
    return true;
  }
  return false;
}

std::uint32_t RequestReader::number_file(std::uint32_t process, std::uint32_t number) {
  const std::uint64_t open = open_key(process, number);
  if (has_last_open_ && open == last_open_) return last_file_;
  const auto [entry, is_new] = files_.try_emplace(open, next_file_);
  next_file_ += is_new ? 1 : 0;
  last_open_ = open;
  last_file_ = entry->second;
  has_last_open_ = true;
  return last_file_;
}

std::uint32_t RequestReader::number_process(std::uint32_t number) {
  if (!processes_.empty() && number == last_process_number_) return last_process_;
  last_process_number_ = number;
  last_process_ = processes_.try_emplace(number, static_cast<std::uint32_t>(processes_.size())).first->second;
  return last_process_;
}

}  // namespace plait::simulation
