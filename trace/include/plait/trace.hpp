/// Traces of input and output: events, and the formats that they are read from and written to.
///
/// An event is one call that a program made, or one request that reached a store.  Source: E. L. Miller, "Input/Output
/// Behavior of Supercomputing Applications" (1992), section 4 and appendix, widened to 64 bits and to today's calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/trace_names.h"

namespace plait::trace {

#define PLAIT_TRACE_ENUMERATOR(name, enumerator, word) enumerator,
#define PLAIT_TRACE_FLAG(name, constant, bits, word) constexpr std::uint16_t constant = bits;

/// The operation: kRead, kWrite, kOpen and so on (plait/trace_names.h).
enum class Kind : std::uint8_t { PLAIT_TRACE_KINDS(PLAIT_TRACE_ENUMERATOR) };

/// The interface that the program called: kUnknown, kPosix, kVector and so on (plait/trace_names.h).
enum class Interface : std::uint8_t { PLAIT_TRACE_INTERFACES(PLAIT_TRACE_ENUMERATOR) };

/// Bits of Event::flags: kLogical, kAsynchronous and so on, and the values under the mask kDataType
/// (plait/trace_names.h).
namespace flag {
PLAIT_TRACE_FLAGS(PLAIT_TRACE_FLAG)
PLAIT_TRACE_DATA_TYPES(PLAIT_TRACE_FLAG)
constexpr std::uint16_t kDataType = 0x03;  ///< 0 file data, 1 metadata, 2 read-ahead, 3 virtual memory
}  // namespace flag

#undef PLAIT_TRACE_ENUMERATOR
#undef PLAIT_TRACE_FLAG

/// The value of a time that is not known.
constexpr std::int64_t kUnknown = -1;

/// One event.  Times are in nanoseconds.
struct Event {
  std::int64_t start = 0;            ///< time since the zero of the trace
  std::int64_t duration = kUnknown;  ///< time until the program was notified of the completion
  std::int64_t cpu = kUnknown;       ///< CPU time that the process had used at the start
  std::int64_t offset = kUnknown;    ///< bytes; kUnknown: a stream without positions
  std::int64_t length = 0;           ///< bytes requested
  std::int64_t result = 0;           ///< bytes moved, or -errno
  std::uint64_t operation = 0;       ///< equal for a logical request and its physical ones; 0: none
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint32_t file = 0;  ///< number of the open, unique in its process; 0: none
  Kind kind = Kind::kRead;
  Interface interface = Interface::kUnknown;
  std::uint16_t flags = flag::kLogical;

  bool operator==(const Event&) const = default;
  /// Returns the bytes that moved; 0 if the call failed.
  std::int64_t moved() const noexcept { return result > 0 ? result : 0; }
};

/// A process of a trace.
struct Process {
  std::uint32_t number = 0;  ///< as in Event::process: the system's process id, or another if an id was used twice
  std::uint32_t parent = 0;  ///< 0: none in the trace
  std::int64_t rank = -1;    ///< rank in its MPI job; -1: none
  std::string host;
  std::string command;
  std::int64_t cpu = kUnknown;  ///< ns of CPU time in total, if the trace states it

  bool operator==(const Process&) const = default;
};

/// One open of a file, by one process.
struct File {
  std::uint32_t process = 0;
  std::uint32_t number = 0;  ///< as in Event::file
  std::string name;

  bool operator==(const File&) const = default;
};

/// Events that happened but were not recorded.
struct MissedCalls {
  std::string reason;  ///< which events are missing and why, as text
  std::int64_t events = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;

  bool operator==(const MissedCalls&) const = default;
};

/// Sums over many calls that a source recorded instead of the single calls: numbers by name, listed in
/// docs/reference/traces.md.  These calls are not among the events.
struct Counters {
  std::uint32_t process = 0;  ///< 0: of the whole run
  std::uint32_t file = 0;     ///< as in File::number; 0: of no single file
  Interface interface = Interface::kUnknown;
  std::uint16_t flags = flag::kLogical;
  std::vector<std::pair<std::string, std::int64_t>> values;

  bool operator==(const Counters&) const = default;
};

/// The metadata of a trace.  It grows while events are read and is complete after the last one.
struct Description {
  std::string format;     ///< "plait", "1992", "csv", "strace", ...
  std::int64_t zero = 0;  ///< ns since 1970 UTC of the trace's zero; 0: not known
  std::int64_t tick = 1;  ///< ns to which times were rounded
  bool complete = true;   ///< true if the trace ends as its format prescribes; false: cut off, or a process was killed
  std::vector<Process> processes;
  std::vector<File> files;
  std::vector<MissedCalls> missed;
  std::vector<Counters> counters;
  std::vector<std::string> notes;  ///< remarks on parts that could not be read or were guessed
};

/// Reads a trace in the order of start.
/// memory   independent of the trace's length: some KiB for each thread of the trace, and the tables of Description.
/// errors  kSystem: does not exist or is not readable; kArgument: not of this format, with the line or byte.  A trace
///         that is cut off is read up to the cut and marked as incomplete.
/// threads  One at a time.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Fills the beginning of `output` and returns the number of events, 0 at the end.
  virtual std::size_t read(std::span<Event> output) = 0;
  virtual const Description& description() const = 0;
  /// Return the bytes of the trace read so far, and its size (0: not known), for a progress bar.
  virtual std::int64_t bytes_read() const { return 0; }
  virtual std::int64_t bytes_in_all() const { return 0; }
};

/// Writes a trace.  Events are passed in the order of start.  A process and a file are added before the first event
/// that refers to them; the rest of the description (zero, missed, counters, notes) is passed to finish().  The trace
/// has a temporary name until finish() returns.
/// errors  kSystem: cannot be written. kArgument: the format cannot represent it; the message names the field.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void add(const Process& process) = 0;
  virtual void add(const File& file) = 0;
  virtual void write(std::span<const Event> events) = 0;
  /// Ends the trace, with the parts of the description that add() does not write.
  virtual void finish(const Description& description) = 0;
  /// Returns the bytes written so far.
  virtual std::int64_t bytes_written() const { return 0; }
  /// Returns descriptions of data that the format could not represent; complete after finish().
  virtual std::vector<std::string> lost() const { return {}; }
};

/// Options for formats that do not describe themselves completely.
struct ReadOptions {
  std::string format;        ///< empty: detected from the content
  int base = 0;              ///< 1992: base of numbers, 10 or 16; 0: as in its head comment, otherwise detected
  char separator = 0;        ///< 1992 and CSV: 0: as in its head comment, otherwise blanks (1992) or a comma
  std::string comment;       ///< 1992: beginning of comment lines; empty: see docs/formats.md
  std::int64_t tick = 0;     ///< ns per unit of time; 0: as the trace states, otherwise the format's default
  std::int64_t block = 512;  ///< bytes of a block: 1992, and addresses in block traces
  std::string columns;       ///< blkcsv: names of the columns, "time,op,lba,size"; empty: as in the first line
  std::string shown;         ///< the name of the trace in errors and notes; empty: its path
};

/// Options for writing a trace.
struct WriteOptions {
  std::string format;        ///< empty: by the extension: .plait .1992 .csv .json (Perfetto)
  int base = 16;             ///< 1992: base of numbers, 10 or 16
  char separator = 0;        ///< 1992 and CSV: 0 for a blank (1992) or a comma
  std::string comment;       ///< 1992: beginning of comment lines; empty: the record type ff
  std::int64_t tick = 0;     ///< ns per unit of time; 0: the format's default
  std::int64_t block = 512;  ///< 1992: bytes of a block
  bool plain = false;        ///< 1992: without comments for data that records cannot hold
};

/// Opens a trace of any format that Plait reads.  path: a file, or /dev/stdin.
std::unique_ptr<Reader> open_trace(const std::string& path, const ReadOptions& options = {});
/// Begins a trace.
std::unique_ptr<Writer> create_trace(const std::string& path, const WriteOptions& options = {});
/// Copies the remaining events of a trace.  Returns their number.
std::int64_t copy(Reader& from, Writer& to);

}  // namespace plait::trace
