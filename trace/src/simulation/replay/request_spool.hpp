/// Storage of the recorded requests of all processes: in memory up to a limit, and in a temporary file beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/trace.hpp"
#include "simulation/clock/event_queue.hpp"

namespace plait::simulation {

/// One action of a process: a read, a write, or another call. Times are in ns.
struct Request {
  Time think = 0;    ///< time that the process computes before the action
  Time pause = 0;    ///< time before the action that is neither computing nor simulated I/O
  Time service = 0;  ///< recorded duration of the action
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::uint32_t file = 0;
  /// Number shared by the requests of a collective operation, which wait for each other; 0: none.
  std::uint32_t group = 0;
  /// Read, write, sync, truncate, close, exit, or a phase: a call in which all processes of the group wait for each
  /// other.
  trace::Kind kind = trace::Kind::kExit;
  bool asynchronous = false;
  bool direct = false;   ///< bypasses the cache
  bool durable = false;  ///< a write that ends when its bytes are on the device
  bool logical = true;   ///< true: the program made it; false: it reached a device
};

constexpr std::size_t kChunkRequests = 2048;

/// Stores chunks of at most kChunkRequests requests.
/// memory   at most 64 MiB, and 16 bytes a chunk.
/// threads  read() from any number of threads after everything is added.
/// errors   kSystem: the temporary file (in TMPDIR, or /tmp) cannot be written or read.
class RequestSpool {
 public:
  RequestSpool() = default;
  RequestSpool(const RequestSpool&) = delete;
  RequestSpool& operator=(const RequestSpool&) = delete;
  ~RequestSpool();

  /// returns  the number of the chunk.
  std::size_t add(std::span<const Request> chunk);
  void read(std::size_t chunk, std::vector<Request>& into) const;
  std::int64_t bytes() const noexcept { return bytes_; }

 private:
  struct Chunk {
    std::int64_t location = 0;  // offset in the file; below 0: index -1 - at in memory_
    std::size_t count = 0;
  };
  void open_file();

  std::vector<Chunk> chunks_;
  std::vector<std::vector<Request>> memory_;
  std::int64_t memory_bytes_ = 0;
  std::int64_t file_bytes_ = 0;
  std::int64_t bytes_ = 0;
  int file_ = -1;
};

}  // namespace plait::simulation
