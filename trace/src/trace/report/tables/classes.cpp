#include "trace/report/tables/classes.hpp"

#include <algorithm>
#include <map>

namespace plait::trace::report {

namespace {

// Classes of files from how their data was read and written, after section 5.1 of the paper.
//
// Shares are integers over 100, so that the same trace gives the same result on every machine.
//
// Example: a file of 100 MiB is written 3 times from its begin and never read. It was rewritten 2 times, and 300 MiB
// are at least 2.5 times its extent. If the pauses are at least twice as long as the rounds of writing, it is a
// checkpoint.
constexpr std::int64_t kOncePercent = 110;       // transferred once: at most 1.10 times the extent
constexpr std::int64_t kSeveralPercent = 300;    // transferred repeatedly: at least 3 times the extent
constexpr std::int64_t kSwappedPercent = 50;     // swapped: at least half of the extent is read after writing
constexpr std::int64_t kRewrittenPercent = 250;  // checkpoint: at least 2.5 times the extent
constexpr std::int64_t kReadBackPercent = 5;     // read back: at most 0.05 of the written bytes
// Pauses are long: at least twice the time of the rounds between them.
constexpr std::int64_t kPauseFactor = 2;
constexpr std::int64_t kMinRounds = 3;                     // number of writes from which a file is written repeatedly
constexpr std::int64_t kEqualSizePercent = 95;             // files of a group: at least 0.95 of the largest one
constexpr std::int64_t kMinBytes = std::int64_t{1} << 20;  // smaller files are neither swapped nor checkpoints

__extension__ using Int128 = __int128;  // products of sums at their maximum

/// Returns a <= share / 100 * b.
bool is_at_most_percent(Int128 a, std::int64_t percent, Int128 b) { return a * 100 <= b * percent; }
/// Returns b >= share / 100 * a.
bool is_at_least_percent(Int128 b, std::int64_t percent, Int128 a) { return b * 100 >= a * percent; }

/// Returns the largest number of files of a group that one process wrote first.
std::int64_t max_of_one_writer(const std::vector<FileRow*>& group) {
  std::map<std::uint32_t, std::int64_t> counts;
  std::int64_t max_files = 0;
  for (const FileRow* file : group) max_files = std::max(max_files, ++counts[file->writer]);
  return max_files;
}

}  // namespace

Class classify(const FileRow& file) {
  const Int128 read = file.data[kReads].bytes;
  const Int128 written = file.data[kWrites].bytes;
  const Int128 extent = file.extent;
  if (extent == 0) return Class::kOther;
  // Processes that each read the whole file read it once each.
  const Int128 extent_of_readers = extent * std::max<std::int64_t>(file.processes, 1);
  const bool is_read_back = !is_at_most_percent(file.read_back, kReadBackPercent, written);
  const bool is_large = read + written >= kMinBytes;
  if (is_large && written == 0 && is_at_least_percent(read, kSeveralPercent, extent_of_readers))
    return Class::kSwapping;
  if (is_large && written > 0 && file.alternations >= kMinRounds - 1 &&
      is_at_least_percent(file.read_back, kSwappedPercent, extent) &&
      is_at_least_percent(read + written, kSeveralPercent, extent))
    return Class::kSwapping;
  if (is_large && !is_read_back && file.rewrites >= kMinRounds - 1 &&
      is_at_least_percent(written, kRewrittenPercent, extent) &&
      file.write_pauses >= kPauseFactor * Int128{file.write_rounds})
    return Class::kCheckpoint;
  if (!is_read_back && is_at_most_percent(written, kOncePercent, extent) &&
      is_at_most_percent(read, kOncePercent, extent_of_readers))
    return Class::kRequired;
  return Class::kOther;
}

std::string name_pattern(const std::string& name) {
  std::string pattern;
  for (const char letter : name) {
    const bool digit = letter >= '0' && letter <= '9';
    if (!digit) pattern += letter;
    if (digit && (pattern.empty() || pattern.back() != '#')) pattern += '#';
  }
  return pattern;
}

void find_checkpoint_groups(std::vector<FileRow>& files) {
  std::map<std::string, std::vector<FileRow*>> groups;
  for (FileRow& file : files) {
    if (file.what != Class::kRequired || file.data[kWrites].bytes == 0 || file.data[kReads].bytes > 0) continue;
    std::string pattern = name_pattern(file.name);
    if (pattern.find('#') != std::string::npos) groups[std::move(pattern)].push_back(&file);
  }
  for (auto& [pattern, group] : groups) {
    if (max_of_one_writer(group) < kMinRounds) continue;  // for example one file of each rank
    std::sort(group.begin(), group.end(), [](const FileRow* a, const FileRow* b) { return a->begin < b->begin; });
    std::int64_t largest = 0;
    Int128 total = 0;
    for (const FileRow* file : group) {
      largest = std::max(largest, file->data[kWrites].bytes);
      total += file->data[kWrites].bytes;
    }
    if (total < kMinBytes) continue;
    bool equal_sizes = true;
    std::int64_t rounds = 1;
    std::int64_t pauses = 0;
    std::int64_t round_begin = group.front()->begin;
    std::int64_t rounds_time = 0;
    std::int64_t round_end = group.front()->end;
    for (const FileRow* file : group) {
      equal_sizes = equal_sizes && is_at_least_percent(file->data[kWrites].bytes, kEqualSizePercent, largest);
      if (file->begin > round_end) {  // files of several processes overlap within one round
        ++rounds;
        pauses += file->begin - round_end;
        rounds_time += round_end - round_begin;
        round_begin = file->begin;
      }
      round_end = std::max(round_end, file->end);
    }
    rounds_time += round_end - round_begin;
    if (!equal_sizes || rounds < kMinRounds || pauses < kPauseFactor * Int128{rounds_time}) continue;
    for (FileRow* file : group) {
      file->what = Class::kCheckpoint;
      file->group = pattern;
    }
  }
}

}  // namespace plait::trace::report
