#include "transport/peer_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/errors.hpp"
#include "base/process.hpp"

namespace plait::transport {

namespace {

constexpr std::size_t kMaxCopies = 512;  // maximum ranges per system call; the system allows 1024

/// The word that other processes read to test the access.  Its value depends on process number and clock, so that
/// another process has no equal word at the same address.
struct ProbeWord {
  std::int64_t value =
      (static_cast<std::int64_t>(::getpid()) << 32) ^ std::chrono::steady_clock::now().time_since_epoch().count();
};

iovec to_iovec(const std::byte* begin, std::int64_t bytes) {
  return {const_cast<std::byte*>(begin), static_cast<std::size_t>(bytes)};
}

/// Copies memory of a process.  Returns true if all `bytes` bytes were copied; otherwise sets errno.
bool copy_from(std::int64_t process, std::span<const iovec> from, std::span<const iovec> to, std::int64_t bytes) {
  const ssize_t result =
      ::process_vm_readv(static_cast<pid_t>(process), to.data(), to.size(), from.data(), from.size(), 0);
  if (result >= 0 && result < bytes) errno = EFAULT;
  return result == bytes;
}

bool copy_from(std::int64_t process, const std::byte* from, std::byte* to, std::int64_t bytes) {
  const std::array source{to_iovec(from, bytes)};
  const std::array target{to_iovec(to, bytes)};
  return copy_from(process, source, target, bytes);
}

}  // namespace

PeerToken PeerMemory::token() {
  static base::PerProcess<ProbeWord> word;
  const ProbeWord& probe = word.get();
  return {::getpid(), reinterpret_cast<std::intptr_t>(&probe.value), probe.value};
}

bool PeerMemory::readable(const std::byte* address) {
  std::byte byte{};
  return copy_from(::getpid(), address, &byte, 1);
}

void PeerMemory::try_all(std::span<const PeerToken> tokens) {
  tried_ = true;
  processes_.clear();
  is_permitted_ = std::all_of(tokens.begin(), tokens.end(), [&](const PeerToken& peer) {
    processes_.push_back(peer.process);
    std::int64_t found = 0;
    const auto* const source = reinterpret_cast<const std::byte*>(static_cast<std::intptr_t>(peer.address));
    return copy_from(peer.process, source, reinterpret_cast<std::byte*>(&found), sizeof found) && found == peer.word;
  });
}

void PeerMemory::read(int node_rank, std::span<const PeerCopy> copies) const {
  std::array<iovec, kMaxCopies> from;
  std::array<iovec, kMaxCopies> to;
  const std::int64_t process = processes_[static_cast<std::size_t>(node_rank)];
  // Each system call gets up to kMaxCopies ranges; destinations that follow each other become one.
  while (!copies.empty()) {
    std::size_t count = 0;
    std::size_t targets = 0;
    std::int64_t bytes = 0;
    for (; count < std::min(copies.size(), kMaxCopies); ++count) {
      const PeerCopy& piece = copies[count];
      if (count > 0 && bytes + piece.bytes > kMaxPeerCopy) break;
      from[count] = to_iovec(piece.from, piece.bytes);
      if (count > 0 && copies[count - 1].to + copies[count - 1].bytes == piece.to) {
        to[targets - 1].iov_len += static_cast<std::size_t>(piece.bytes);
      } else {
        to[targets++] = to_iovec(piece.to, piece.bytes);
      }
      bytes += piece.bytes;
    }
    if (!copy_from(process, {from.data(), count}, {to.data(), targets}, bytes)) {
      const int code = errno;
      base::throw_system_error(code, "cannot read the array of process ", process,
                               " of this node: ", std::strerror(code), "; it has ended, or its array is gone");
    }
    copies = copies.subspan(count);
  }
}

}  // namespace plait::transport
