// Prints the rates of strided_copy(), compared with those of memcpy for the same number of bytes.
//
// Windows: one end is a window that is still in cache.  The other end streams through an array of 64 MiB ("stream":
// bound by memory) or also stays in cache ("hot": bound by the kernels and L2).
// Transposes: both ends are large.
// The results are the best of several rounds, because other programs can only make a round slower.
// The argument names the instruction set; without it, all sets that this processor supports are measured.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <vector>

#include "copy/instruction_set.hpp"
#include "copy/strided_copy.hpp"

namespace {

using plait::copy::Destination;
using plait::copy::Loop;
using plait::copy::strided_copy;

constexpr std::int64_t kStreamWindow = 1 << 20, kHotWindow = 256 << 10, kArray = 64 << 20;
constexpr int kRounds = 11;

/// Memory in large pages if the system provides them, like NumPy's large arrays.
class HugePageMemory {
 public:
  explicit HugePageMemory(std::int64_t bytes) {
    constexpr std::size_t kPage = 2 << 20;
    const std::size_t rounded = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
    data_ = static_cast<std::byte*>(std::aligned_alloc(kPage, rounded));
    if (data_ == nullptr) throw std::bad_alloc();
    madvise(data_, rounded, MADV_HUGEPAGE);
    std::memset(data_, 1, rounded);
  }
  HugePageMemory(const HugePageMemory&) = delete;
  HugePageMemory& operator=(const HugePageMemory&) = delete;
  ~HugePageMemory() { std::free(data_); }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

/// Processor time of this thread, which does not include time in which other programs use the core.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// Returns the shortest time of several rounds.
double best_seconds(const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const double start = thread_seconds();
    work();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

void print_rate(const char* name, std::int64_t run, double bytes, double seconds, double memcpy_seconds) {
  std::printf("  %-44s %8.3f ns/run %8.2f GB/s %5.0f %% of memcpy\n", name, seconds / bytes * double(run) * 1e9,
              bytes / seconds / 1e9, 100 * memcpy_seconds / seconds);
}

/// A copy of elements of `run` bytes by loops, each with a count, a stride in the window and a stride in the array.
struct Case {
  const char* name;
  std::int64_t run;
  std::vector<Loop> loops;

  std::int64_t bytes() const {
    std::int64_t result = run;
    for (const Loop& loop : loops) result *= loop.count;
    return result;
  }
};

std::vector<Case> window_cases(std::int64_t window) {
  return {
      {"all bytes", window, {}},
      {"8-byte elements, every 4th", 8, {{window / 32, 32, 8}}},
      {"8-byte elements, every 3rd", 8, {{window / 24, 24, 8}}},
      {"8-byte elements, every 16th", 8, {{window / 128, 128, 8}}},
      {"4-byte elements, every 4th", 4, {{window / 16, 16, 4}}},
      {"1-byte elements, every 4th", 1, {{window / 4, 4, 1}}},
      {"1-byte elements, every 3rd", 1, {{window / 3, 3, 1}}},
      {"1-byte elements, every 32nd", 1, {{window / 32, 32, 1}}},
      {"12-byte elements, every 2nd", 12, {{window / 24, 24, 12}}},
      {"8-byte 2x2 cyclic, rows of 3000", 8, {{1500, 16, 8}, {window / 48000, 2 * 24000, 12000}}},
      {"1-byte 2x2 cyclic, rows of 5000", 1, {{2500, 2, 1}, {window / 10000, 2 * 5000, 2500}}},
      {"8-byte cyclic(3) on 4, rows of 12 elements", 8, {{3, 8, 8}, {window / 96, 96, 24}}},
      {"8-byte 2 of every 8 in 4-element rows of 40", 8, {{2, 16, 8}, {2, 160, 16}, {window / 320, 320, 32}}},
      {"8-byte runs of 2 into padded rows", 8, {{2, 32, 8}, {window / 64, 64, 40}}},
      {"128-byte runs, every 256", 128, {{window / 256, 256, 128}}},
      {"64-byte runs, every 256", 64, {{window / 256, 256, 64}}},
      {"32-byte runs, every 128", 32, {{window / 128, 128, 32}}},
      {"1000-byte runs, every 4000", 1000, {{window / 4000, 4000, 1000}}},
  };
}

enum class Mode { kHot, kStream, kPastCaches };

void bench_windows(bool gather, Mode mode, const HugePageMemory& window, const HugePageMemory& array) {
  const bool is_hot = mode == Mode::kHot;
  const Destination destination = mode == Mode::kPastCaches ? Destination::kMemory : Destination::kCaches;
  std::printf(" %s, %s%s\n", gather ? "gather: window to array" : "scatter: array to window", is_hot ? "hot" : "stream",
              destination == Destination::kMemory ? " past the caches" : "");
  for (Case& item : window_cases(is_hot ? kHotWindow : kStreamWindow)) {
    std::int64_t extent = item.run;
    for (Loop& loop : item.loops) {
      extent += (loop.count - 1) * loop.target_stride;
      if (!gather) std::swap(loop.source_stride, loop.target_stride);
    }
    const std::int64_t calls = kArray / extent / (is_hot ? 4 : 1);
    // Calls copy(target, source) for each part of the array.
    const auto copy_parts = [&](const auto& copy) {
      for (std::int64_t i = 0; i < calls; ++i) {
        std::byte* part = array.data() + (is_hot ? 0 : i * extent);
        gather ? copy(part, window.data()) : copy(window.data(), part);
      }
    };
    const double seconds = best_seconds([&] {
      copy_parts(
          [&](std::byte* to, const std::byte* from) { strided_copy(to, from, item.run, item.loops, destination); });
    });
    const auto bytes = static_cast<std::size_t>(item.bytes());
    const double memcpy_seconds =
        best_seconds([&] { copy_parts([&](std::byte* to, const std::byte* from) { std::memcpy(to, from, bytes); }); });
    print_rate(item.name, item.run, double(item.bytes() * calls), seconds, memcpy_seconds);
  }
}

void bench_transpose(std::int64_t unit, std::int64_t rows, std::int64_t columns) {
  const auto bytes = static_cast<std::size_t>(unit * rows * columns);
  const HugePageMemory source(unit * rows * columns), target(unit * rows * columns);
  const Loop loops[] = {{rows, columns * unit, unit}, {columns, unit, rows * unit}};
  const double seconds = best_seconds([&] { strided_copy(target.data(), source.data(), unit, loops); });
  const double memcpy_seconds = best_seconds([&] { std::memcpy(target.data(), source.data(), bytes); });
  char name[64];
  std::snprintf(name, sizeof name, "transpose %dx%d of %d bytes", int(rows), int(columns), int(unit));
  print_rate(name, unit, double(bytes), seconds, memcpy_seconds);
}

void bench_all() {
  std::printf("%s\n", plait::copy::instruction_set());
  const HugePageMemory window(kStreamWindow), array(kArray);
  for (const Mode mode : {Mode::kHot, Mode::kStream}) {
    for (const bool gather : {true, false}) bench_windows(gather, mode, window, array);
  }
  bench_windows(/*gather=*/true, Mode::kPastCaches, window, array);
  std::printf(" transposes\n");
  bench_transpose(8, 3000, 3000);
  bench_transpose(8, 2048, 4096);
  bench_transpose(1, 5000, 5000);
  bench_transpose(1, 8192, 8192);
  bench_transpose(4, 3001, 4099);
  bench_transpose(2, 5000, 5000);
  bench_transpose(16, 1500, 2500);
  bench_transpose(12, 1500, 2500);
  bench_transpose(8, 3, 3000000);
  bench_transpose(8, 3000000, 3);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && !plait::copy::use_instruction_set(arguments[1])) {
    std::fprintf(stderr, "Instruction set %s is not available here; leave it out to measure all.\n", arguments[1]);
    return 1;
  }
  if (count > 1) {
    bench_all();
  } else {
    for (const auto& set : plait::copy::instruction_sets()) {
      plait::copy::use_instruction_set(set.name);
      bench_all();
    }
  }
}
