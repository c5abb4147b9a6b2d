// Prints the times of whole-array accesses to striped files on 1, 2 and 3 folders, next to those to an ordinary file.
//
// All folders are on one disk (that of the working folder, or of the folder named by the argument) and all bytes in the
// page cache, so that the difference is the cost of striping itself.  The files take turns.  The results are medians of
// the elapsed time and of the processor time of all threads.
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "plait/file.hpp"

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kExtent = 3000;
constexpr int kRounds = 25;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

/// A file that is measured, and its results.
struct Contestant {
  std::string name;
  plait::File file;
  std::vector<double> elapsed;    // seconds of each round
  std::vector<double> processor;  // seconds of all threads, of each round
};

/// Measures accesses of all ranks of a layout, and prints the medians of each file.
void measure_contestants(std::vector<Contestant>& contestants, const plait::Layout& layout, bool is_write) {
  std::vector<std::vector<double>> parts;
  std::vector<plait::MutablePart> read_parts;
  std::vector<plait::ConstPart> write_parts;
  for (std::int64_t rank = 0; rank < layout.size(); ++rank) {
    parts.emplace_back(static_cast<std::size_t>(layout.local_elements(rank)), 1.0);
    read_parts.push_back({reinterpret_cast<std::byte*>(parts.back().data()), {}});
    write_parts.push_back({read_parts.back().data, {}});
  }
  for (int round = -1; round < kRounds; ++round)
    for (Contestant& contestant : contestants) {
      const double begin = seconds(CLOCK_MONOTONIC);
      const double processor_begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
      is_write ? contestant.file.write(layout, write_parts) : contestant.file.read(layout, read_parts);
      if (round < 0) continue;  // round -1 warms up
      contestant.processor.push_back(seconds(CLOCK_PROCESS_CPUTIME_ID) - processor_begin);
      contestant.elapsed.push_back(seconds(CLOCK_MONOTONIC) - begin);
    }
  std::printf("%-5s %-34s", is_write ? "write" : "read", to_string(layout).c_str());
  for (Contestant& contestant : contestants) {
    std::printf("  %5.1f %5.1f", median(contestant.elapsed) * 1e3, median(contestant.processor) * 1e3);
    contestant.elapsed.clear();
    contestant.processor.clear();
  }
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  std::string name_template =
      ((count > 1 ? fs::path(arguments[1]) : fs::current_path()) / "plait-stripes-XXXXXX").string();
  if (::mkdtemp(name_template.data()) == nullptr) {
    std::perror(name_template.c_str());
    return 1;
  }
  const fs::path folder(name_template);
  plait::FileOptions options;
  options.shape = {kExtent, kExtent};
  options.dtype = "<f8";
  std::vector<Contestant> contestants;
  std::string disks;
  for (int n = 0; n <= 3; ++n) {
    std::string name = (folder / std::to_string(n)).string();
    if (n > 0) {
      const fs::path disk = folder / ("disk" + std::to_string(n));
      fs::create_directory(disk);
      disks += (n > 1 ? "," : "?disks=") + disk.string();
      name.insert(0, "stripe:");
      name += disks;
    }
    plait::File::open(name, plait::Mode::kWrite, options).close();
    contestants.push_back({n == 0 ? "ordinary" : std::to_string(n) + " disks",
                           plait::File::open(name, plait::Mode::kReadWrite, options),
                           {},
                           {}});
  }
  std::printf("ms elapsed, ms of processor time; %lld x %lld doubles", static_cast<long long>(kExtent),
              static_cast<long long>(kExtent));
  for (const Contestant& contestant : contestants) std::printf("; %s", contestant.name.c_str());
  std::printf("\n");
  for (const bool is_write : {true, false})
    for (const char* layout : {"(block, *) onto (4)", "(cyclic, *) onto (4)", "(*, cyclic) onto (4)"})
      measure_contestants(contestants, plait::Layout::parse("3000x3000 " + std::string(layout)), is_write);
  contestants.clear();
  fs::remove_all(folder);
}
