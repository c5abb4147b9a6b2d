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
constexpr std::int64_t kOnce = 110;       // transferred once: at most 1.10 times the extent
constexpr std::int64_t kSeveral = 300;    // transferred repeatedly: at least 3 times the extent
constexpr std::int64_t kHalf = 50;        // swapped: at least half of the extent is read after writing
constexpr std::int64_t kRewritten = 250;  // checkpoint: at least 2.5 times the extent
constexpr std::int64_t kLittle = 5;       // read back: at most 0.05 of the written bytes
// Pauses are long: at least twice the time of the rounds between them.
constexpr std::int64_t kPauses = 2;
constexpr std::int64_t kRounds = 3;                   // number of writes from which a file is written repeatedly
constexpr std::int64_t kLikeSizes = 95;               // files of a group: at least 0.95 of the largest one
constexpr std::int64_t kMin = std::int64_t{1} << 20;  // smaller files are neither swapped nor checkpoints

__extension__ using Int128 = __int128;  // products of sums at their maximum

/// Returns a <= share / 100 * b.
bool at_most(Int128 a, std::int64_t share, Int128 b) { return a * 100 <= b * share; }
/// Returns b >= share / 100 * a.
bool at_least(Int128 b, std::int64_t share, Int128 a) { return b * 100 >= a * share; }

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
  const Int128 shared = extent * std::max<std::int64_t>(file.processes, 1);
  const bool read_back = !at_most(file.read_back, kLittle, written);
  const bool enough = read + written >= kMin;
  if (enough && written == 0 && at_least(read, kSeveral, shared)) return Class::kSwapping;
  if (enough && written > 0 && file.alternations >= kRounds - 1 && at_least(file.read_back, kHalf, extent) &&
      at_least(read + written, kSeveral, extent))
    return Class::kSwapping;
  if (enough && !read_back && file.rewrites >= kRounds - 1 && at_least(written, kRewritten, extent) &&
      file.write_pauses >= kPauses * Int128{file.write_rounds})
    return Class::kCheckpoint;
  if (!read_back && at_most(written, kOnce, extent) && at_most(read, kOnce, shared)) return Class::kRequired;
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
    if (max_of_one_writer(group) < kRounds) continue;  // for example one file of each rank
    std::sort(group.begin(), group.end(), [](const FileRow* a, const FileRow* b) { return a->begin < b->begin; });
    std::int64_t largest = 0;
    Int128 whole = 0;
    for (const FileRow* file : group) {
      largest = std::max(largest, file->data[kWrites].bytes);
      whole += file->data[kWrites].bytes;
    }
    if (whole < kMin) continue;
    bool alike = true;
    std::int64_t rounds = 1;
    std::int64_t pauses = 0;
    std::int64_t round = group.front()->begin;
    std::int64_t time = 0;
    std::int64_t until = group.front()->end;
    for (const FileRow* file : group) {
      alike = alike && at_least(file->data[kWrites].bytes, kLikeSizes, largest);
      if (file->begin > until) {  // files of several processes overlap within one round
        ++rounds;
        pauses += file->begin - until;
        time += until - round;
        round = file->begin;
      }
      until = std::max(until, file->end);
    }
    time += until - round;
    if (!alike || rounds < kRounds || pauses < kPauses * Int128{time}) continue;
    for (FileRow* file : group) {
      file->what = Class::kCheckpoint;
      file->group = pattern;
    }
  }
}

}  // namespace plait::trace::report
