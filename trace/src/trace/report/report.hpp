/// The numbers of a report.
///
/// Source: E. L. Miller, "Input/Output Behavior of Supercomputing Applications" (1992), sections 3 and 5: tables 1
/// and 2, figures 3 and 4, the types of I/O and the cycles; extended by numbers that reports contain today. Times are
/// in ns since the first event, sizes in bytes. docs/reference/trace-report.md defines each number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plait/trace.hpp"

namespace plait::trace::report {

/// The directions of data, as indices.
constexpr int kReads = 0;
constexpr int kWrites = 1;

/// Number of accesses by their begin relative to the end of the previous access on the same open.
struct Order {
  std::int64_t consecutive = 0;  ///< at that end
  std::int64_t sequential = 0;   ///< after it
  std::int64_t random = 0;       ///< before it
  std::int64_t count() const { return consecutive + sequential + random; }
};

/// Requests and bytes of one direction.
struct Traffic {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

struct Totals {
  std::int64_t events = 0;  ///< number of events of all kinds and levels
  std::int64_t wall = 0;    ///< time from the first event to the last end
  std::int64_t cpu = kUnknown;
  std::array<Traffic, 2> data{};
  std::int64_t asynchronous_bytes = 0;
  std::int64_t small = 0;  ///< requests of less than 1 MiB
  std::int64_t small_time = 0;
  std::int64_t data_time = 0;  ///< sum of the durations of reads and writes
  std::array<std::int64_t, 2> positioned{};
  std::array<std::int64_t, 2> unaligned{};  ///< positioned requests whose offset is not a multiple of kAlignment
  std::int64_t unaligned_time = 0;
  std::array<std::int64_t, 2> random_time{};
  std::array<Order, 2> order{};
};
constexpr std::int64_t kSmall = std::int64_t{1} << 20;
constexpr std::int64_t kAlignment = 4096;

struct CallRow {
  Kind kind{};
  Interface interface{};
  std::int64_t count = 0;
  std::int64_t failed = 0;
  std::int64_t time = 0;
  std::int64_t failed_time = 0;
  std::int64_t bytes = 0;
};

struct SizeBin {
  std::int64_t from = 0;  ///< inclusive
  std::int64_t to = 0;    ///< exclusive
  Traffic traffic;
};
struct CommonSize {
  std::int64_t bytes = 0;
  int direction = 0;
  std::int64_t count = 0;
};

struct ProcessRow {
  Process process;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t cpu = kUnknown;
  std::array<Traffic, 2> data{};
  std::int64_t opens = 0;
  std::int64_t files = 0;
  std::int64_t io = 0;      ///< time in which at least one call of the process ran
  std::int64_t waited = 0;  ///< time in which at least one synchronous call ran
  std::int64_t hidden = kUnknown;
};

/// The purpose of a file's data (section 5.1).
enum class Class : std::uint8_t { kRequired, kCheckpoint, kSwapping, kOther };
constexpr int kClasses = 4;

struct FileRow {
  std::string name;
  std::array<Traffic, 2> data{};
  std::array<Order, 2> order{};
  std::array<std::int64_t, 2> time{};  ///< sums of durations
  std::uint32_t writer = 0;            ///< the process that wrote first
  std::int64_t opens = 0;
  std::int64_t processes = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t extent = 0;
  std::int64_t read_back = 0;     ///< bytes read after the first write
  std::int64_t rewrites = 0;      ///< number of times that a write began before an earlier offset
  std::int64_t write_pauses = 0;  ///< time between rounds of writing
  std::int64_t write_rounds = 0;  ///< time of the rounds of writing
  std::int64_t alternations = 0;  ///< changes from writing to reading
  Class what = Class::kOther;
  std::string group;  ///< pattern shared by the names of checkpoint files; empty: none
};

struct Timeline {
  bool cpu = false;
  std::int64_t width = 0;
  std::array<std::vector<std::int64_t>, 2> bytes;
  std::array<std::vector<std::int64_t>, 2> counts;
  std::vector<double> busy;     ///< fraction of `present` in which a call of the process ran
  std::vector<double> present;  ///< sum of the ns that the processes spent in the bin
};

struct Cycle {
  double period = 0;  ///< in ns
  double strength = 0;
  double regularity = 0;
  std::int64_t count = 0;
  double first = 0;  ///< in ns
  double last = 0;
  double bytes = 0;  ///< per cycle
  std::string what;
};

struct ClassSum {
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  std::int64_t time = 0;  ///< sum of the durations of their reads and writes
};

struct Ranks {
  std::vector<std::uint32_t> rows;  ///< first process of each row, an index in Report::processes
  std::int64_t merged = 1;          ///< processes per row
  std::int64_t columns = 0;
  std::int64_t width = 0;
  std::vector<std::int64_t> bytes;  ///< rows x columns
  std::vector<std::int64_t> times;
};

struct Offsets {
  std::string file;
  std::int64_t since = 0;  ///< accesses before this time are not shown
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::array<std::vector<std::int64_t>, 2> bytes;  ///< rows x columns
};

struct Amplification {
  std::int64_t logical = 0;
  std::int64_t physical = 0;
  std::int64_t joined = 0;
};

/// Calls that the report does not count, for one class of files.
struct LeftOutRow {
  std::string_view what;
  std::int64_t files = 0;
  std::int64_t calls = 0;
  std::int64_t time = 0;
  std::array<Traffic, 2> data{};
  std::int64_t maps = 0;  ///< mappings of files, whose bytes are in `mapped`
  std::array<std::int64_t, 2> mapped{};
};

struct Report {
  Description description;
  bool logical = true;
  bool cpu_clock = false;
  Totals totals;
  std::int64_t data_bytes = 0;
  std::vector<CallRow> calls;
  std::array<std::vector<SizeBin>, 2> sizes;
  std::vector<CommonSize> common;
  std::vector<ProcessRow> processes;  ///< all with events, by rank and number
  std::vector<FileRow> files;         ///< sorted by bytes, in descending order
  std::int64_t files_in_all = 0;
  ClassSum files_left_out;
  Timeline timeline;
  std::vector<Cycle> cycles;
  std::array<ClassSum, kClasses> classes{};
  Ranks ranks;
  std::vector<Offsets> offsets;
  std::optional<Amplification> amplification;
  std::vector<LeftOutRow> left_out;
  std::vector<std::string> notes;
};

}  // namespace plait::trace::report
