/// The private memory of the other processes of a node, read through the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::transport {

/// The system copies no more at once.
inline constexpr std::int64_t kMostPeerCopy = std::int64_t{1} << 30;

/// A stretch of another process's memory, at its address there, and where it goes; at most kMostPeerCopy bytes.
struct PeerCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t bytes = 0;
};

/// What a process tells others so that they can try: its number, and a word of its memory with what is in it.  A
/// process of that number in another space of numbers has another word there, or none.
struct PeerToken {
  std::int64_t process = 0;
  std::int64_t address = 0;
  std::int64_t word = 0;
};

/// Linux copies between processes of one user (process_vm_readv) unless a security policy or a container forbids it; so
/// each process tries with each of the others before anyone relies on it.
/// threads  One at a time.
class PeerMemory {
 public:
  /// That of this process, the same at each call.
  static PeerToken token();
  /// Whether a byte of this process's memory can be read so: memory of devices cannot.
  static bool readable(const std::byte* address);

  /// Reads the words of all processes of a node, by their ranks on it.  cost  One system call each.
  void try_all(std::span<const PeerToken> tokens);
  bool tried() const { return tried_; }
  /// Whether all could be read.
  bool able() const { return able_; }

  /// Copies stretches of a process's memory.
  /// cost    Microseconds for each call, and some 0.2 us for each stretch, besides the bytes.
  /// errors  kSystem: the process has ended, or no longer has that memory.
  void read(int node_rank, std::span<const PeerCopy> copies) const;

 private:
  std::vector<std::int64_t> processes_;
  bool tried_ = false;
  bool able_ = false;
};

}  // namespace plait::transport
