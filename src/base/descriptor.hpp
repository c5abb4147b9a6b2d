/// An open file, socket or similar object.
#pragma once

#include <cstdint>

namespace plait::base {

/// Owns a file descriptor.
///
/// A forked child closes its copy. Otherwise it would hold the parent's locks, keep the blocks of deleted files
/// allocated and, for sockets, hide from the other end that the parent has ended.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  /// Returns the number; -1: none, also in a child of the process that opened it.
  int number() const { return number_; }
  void close();

 private:
  /// Makes this object the only owner of `number`.
  void take(int number);
  int give();

  int number_ = -1;
  // Neighbours in the list of all open descriptors.
  Descriptor* before_ = nullptr;
  Descriptor* after_ = nullptr;

  friend struct OpenDescriptors;
};

/// Raises the soft limit of open descriptors to `wanted`, at most to the hard limit. Returns the resulting limit.
std::int64_t allow_descriptors(std::int64_t wanted) noexcept;

}  // namespace plait::base
