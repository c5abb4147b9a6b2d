#include "trace/report/tables/classes.hpp"

#include <algorithm>
#include <map>

namespace plait::trace::report {

namespace {

// Shares are integers over 100, so that the same trace gives the same answer everywhere.
constexpr std::int64_t kOnce = 110;                     // moved once: up to 1.10 times the extent
constexpr std::int64_t kSeveral = 300;                  // again and again: from 3 times the extent
constexpr std::int64_t kHalf = 50;                      // swapped: from half of the extent is read after writing
constexpr std::int64_t kRewritten = 250;                // a checkpoint: from 2.5 times the extent
constexpr std::int64_t kLittle = 5;                     // read back: up to 0.05 of what was written
constexpr std::int64_t kPauses = 2;                     // pauses are long: twice the time of the rounds between them
constexpr std::int64_t kRounds = 3;                     // what is written this often is written again and again
constexpr std::int64_t kLikeSizes = 95;                 // files of a group: from 0.95 of the largest
constexpr std::int64_t kLeast = std::int64_t{1} << 20;  // less than this is neither swapped nor a checkpoint

__extension__ using Wide = __int128;  // products of sums that may be full

/// a <= share / 100 * b.
bool at_most(Wide a, std::int64_t share, Wide b) { return a * 100 <= b * share; }
/// b >= share / 100 * a.
bool at_least(Wide b, std::int64_t share, Wide a) { return b * 100 >= a * share; }

/// How many files of a group one process wrote first, at most.
std::int64_t most_of_one_writer(const std::vector<FileRow*>& group) {
  std::map<std::uint32_t, std::int64_t> counts;
  std::int64_t most = 0;
  for (const FileRow* file : group) most = std::max(most, ++counts[file->writer]);
  return most;
}

}  // namespace

Class class_of(const FileRow& file) {
  const Wide read = file.data[kReads].bytes;
  const Wide written = file.data[kWrites].bytes;
  const Wide extent = file.extent;
  if (extent == 0) return Class::kOther;
  // Processes that each read the whole file read it once each.
  const Wide shared = extent * std::max<std::int64_t>(file.processes, 1);
  const bool read_back = !at_most(file.read_back, kLittle, written);
  const bool enough = read + written >= kLeast;
  if (enough && written == 0 && at_least(read, kSeveral, shared)) return Class::kSwapping;
  if (enough && written > 0 && file.alternations >= kRounds - 1 && at_least(file.read_back, kHalf, extent) &&
      at_least(read + written, kSeveral, extent))
    return Class::kSwapping;
  if (enough && !read_back && file.rewrites >= kRounds - 1 && at_least(written, kRewritten, extent) &&
      file.write_pauses >= kPauses * Wide{file.write_rounds})
    return Class::kCheckpoint;
  if (!read_back && at_most(written, kOnce, extent) && at_most(read, kOnce, shared)) return Class::kRequired;
  return Class::kOther;
}

std::string pattern_of(const std::string& name) {
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
    std::string pattern = pattern_of(file.name);
    if (pattern.find('#') != std::string::npos) groups[std::move(pattern)].push_back(&file);
  }
  for (auto& [pattern, group] : groups) {
    if (most_of_one_writer(group) < kRounds) continue;  // such as a file of each rank
    std::sort(group.begin(), group.end(), [](const FileRow* a, const FileRow* b) { return a->begin < b->begin; });
    std::int64_t largest = 0;
    Wide whole = 0;
    for (const FileRow* file : group) {
      largest = std::max(largest, file->data[kWrites].bytes);
      whole += file->data[kWrites].bytes;
    }
    if (whole < kLeast) continue;
    bool alike = true;
    std::int64_t rounds = 1;
    std::int64_t pauses = 0;
    std::int64_t round = group.front()->begin;
    std::int64_t time = 0;
    std::int64_t until = group.front()->end;
    for (const FileRow* file : group) {
      alike = alike && at_least(file->data[kWrites].bytes, kLikeSizes, largest);
      if (file->begin > until) {  // the files of one round, of several processes, overlap
        ++rounds;
        pauses += file->begin - until;
        time += until - round;
        round = file->begin;
      }
      until = std::max(until, file->end);
    }
    time += until - round;
    if (!alike || rounds < kRounds || pauses < kPauses * Wide{time}) continue;
    for (FileRow* file : group) {
      file->what = Class::kCheckpoint;
      file->group = pattern;
    }
  }
}

}  // namespace plait::trace::report
