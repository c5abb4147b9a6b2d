/// Reads the private memory of the other processes of a node through the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plait::transport {

/// Maximum bytes of one PeerCopy, and of one system call.
inline constexpr std::int64_t kMaxPeerCopy = std::int64_t{1} << 30;

/// A range of another process's memory, by its address in that process, and the destination in this process; at most
/// kMaxPeerCopy bytes.
struct PeerCopy {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t bytes = 0;
};

/// Lets another process test its access to the memory of this one: this process's number, and the address and value of
/// a word in its memory.  If the number means another process in the PID namespace of the reader, the value that the
/// reader finds differs or cannot be read.
struct PeerToken {
  std::int64_t process = 0;
  std::int64_t address = 0;
  std::int64_t word = 0;
};

/// Linux copies between the memories of two processes of one user (process_vm_readv) unless a security policy or a
/// container forbids it.  Therefore each process tests its access to each of the others before any of them relies on
/// it.
/// threads  One at a time.
class PeerMemory {
 public:
  /// Returns the token of this process, the same in each call.
  static PeerToken token();
  /// Returns true if memory of this process can be read by process_vm_readv, tested at one byte; memory of devices
  /// cannot.
  static bool readable(const std::byte* address);

  /// Tests the access to all processes of a node, whose tokens are in the order of their ranks on the node.
  /// cost  One system call each.
  void try_all(std::span<const PeerToken> tokens);
  /// Returns true if try_all() was called.
  bool tried() const { return tried_; }
  /// Returns true if try_all() could read the words of all processes.
  bool able() const { return is_permitted_; }

  /// Copies ranges of the memory of the process with a rank on the node.
  /// cost  Microseconds for each call, and some 0.2 us for each range, in addition to the bytes.
  /// errors  kSystem: the process has ended, or no longer has that memory.
  void read(int node_rank, std::span<const PeerCopy> copies) const;

 private:
  std::vector<std::int64_t> processes_;  // process numbers, by rank on the node
  bool tried_ = false;
  bool is_permitted_ = false;
};

}  // namespace plait::transport
