// Compares killed processes with the kernel's counters, because they could not do so themselves.
//
// Each process stores the sums of its recorded events in the trace, and the process that waits for it stores the final
// values of the kernel's counters.  Example: a worker read 1000 bytes by recorded calls and 24 bytes by a system call
// instruction of its own before it was terminated.  Its sums state 1000 bytes, and its parent wrote the name
// "reaped:71 9000 1024 0 3 0", which states 1024.  Exactly 24 bytes are missing, so that the trace of this process is
// as complete as that of a process that ended normally.
//
// A worker that waits for its next task is killed in a read call.  The program never saw the bytes that the kernel had
// copied by then, so they are neither an event nor missing.
#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "base/events/events.h"
#include "trace/formats/binary/tables.hpp"
#include "trace/words.hpp"

namespace plait::trace::binary {

namespace {

constexpr std::string_view kReaped = PLAIT_REAPED;
constexpr std::int64_t kMaxLoads = 1 << 20;
constexpr std::int64_t kLoadBytes = 16384;  // maximum bytes that one dlopen reads of a library and its dependencies

/// Reads numbers separated by blanks; false if the text contains anything else, or another count of them.
template <std::size_t Count>
bool parse_numbers(std::string_view text, std::array<std::uint64_t, Count>& numbers) {
  for (std::uint64_t& number : numbers) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto value = to_natural(text.substr(0, end), std::uint64_t{1} << 62U);
    if (!value) return false;
    number = *value;
    text.remove_prefix(end);
  }
  return text.empty();
}

/// Sums as unsigned numbers, because the values of a damaged trace may overflow.
std::int64_t sum_account(const plait_account& account, int sum) {
  auto all = static_cast<std::uint64_t>(account.settled[sum]);
  for (const auto& slot : account.slots) all += static_cast<std::uint64_t>(slot.sums[sum]);
  return static_cast<std::int64_t>(std::min(all, std::uint64_t{1} << 62U));
}

}  // namespace

void Tables::read_account(const Part& part, const plait_chunk& chunk, std::string_view content) {
  if (content.size() < sizeof(plait_account)) return;
  plait_account account;
  std::memcpy(&account, content.data(), sizeof account);
  accounts_.emplace_back(make_key(part, chunk.process, chunk.image), account);
}

bool Tables::read_reaped(const Image& image, std::string_view name) {
  if (!name.starts_with(kReaped)) return false;
  std::array<std::uint64_t, 6> numbers{};  // process id, start time, the kernel's four sums
  if (!parse_numbers(name.substr(kReaped.size()), numbers)) return false;
  auto& counters = kernel_counters_[{{image.part, static_cast<std::uint32_t>(numbers[0])}, numbers[1]}];
  for (std::size_t k = 0; k < counters.size(); ++k) counters[k] = static_cast<std::int64_t>(numbers[k + 2]);
  return true;
}

bool Tables::compare_killed(Image& image) const {
  const auto counters = kernel_counters_.find({{image.part, image.id}, image.block.started});
  if (counters == kernel_counters_.end() || !image.account || image.account->flags != 0) return false;
  const plait_account& account = *image.account;
  const auto missing = [&](int sum) {
    return std::max<std::int64_t>(counters->second[static_cast<std::size_t>(sum)] - sum_account(account, sum), 0);
  };
  std::int64_t missing_read = missing(0);
  const std::int64_t missing_written = missing(1);
  const auto reading_threads = std::count_if(std::begin(account.slots), std::end(account.slots),
                                             [](const auto& slot) { return slot.reading != 0; });
  if (missing(2) <= reading_threads) missing_read = 0;
  // The sums include the loader's reads for dlopen only after the next open of a file.
  if (missing_read <= std::clamp<std::int64_t>(account.loading, 0, kMaxLoads) * kLoadBytes) missing_read = 0;
  if (missing_read == 0 && missing_written == 0) return true;
  image.block.missed[PLAIT_MISSED_KERNEL][0] += 1;
  image.block.missed[PLAIT_MISSED_KERNEL][1] += missing_read;
  image.block.missed[PLAIT_MISSED_KERNEL][2] += missing_written;
  return true;
}

}  // namespace plait::trace::binary
