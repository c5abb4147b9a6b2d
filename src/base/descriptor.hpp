/// An open file, socket or similar object.
#pragma once

#include <cstdint>

namespace plait::base {

/// Owns a file descriptor.
///
/// A forked child closes its copy. Otherwise it would hold the parent's locks, prevent the system from freeing the
/// blocks of deleted files and, for sockets, hide from the other end that the parent has ended.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  /// Returns the number; -1 if no descriptor is open, as in a child of the process that opened it.
  int number() const { return number_; }
  void close();

 private:
  /// Makes this object the only owner of `number`, and adds it to the list.
  void adopt(int number);
  /// Removes this object from the list. Returns its descriptor, which the caller then owns; -1: none.
  int release();

  int number_ = -1;
  // Neighbours in the list of all open descriptors.
  Descriptor* previous_ = nullptr;
  Descriptor* next_ = nullptr;

  friend struct OpenDescriptors;
};

/// Raises the soft limit of open descriptors to `count`, or to the hard limit if that is lower. Returns the resulting
/// limit.
std::int64_t allow_descriptors(std::int64_t count) noexcept;

}  // namespace plait::base
