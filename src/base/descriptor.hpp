/// An open file, socket or the like.
#pragma once

#include <cstdint>

namespace plait::base {

/// Owns a file descriptor.
///
/// A forked child closes its copy: else it would hold the parent's locks, keep deleted files on their disks and, of
/// sockets, hide from the other end that the parent has gone.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  /// -1: none, and in a child of the process that opened it.
  int number() const { return number_; }
  void close();

 private:
  /// Makes number_ that of this object, and of no other one.
  void take(int number);
  int give();

  int number_ = -1;
  // Its neighbours among all that are open.
  Descriptor* before_ = nullptr;
  Descriptor* after_ = nullptr;

  friend struct OpenDescriptors;
};

/// Lets this process have so many open, as far as the system permits: a soft limit that is lower is raised, up to the
/// hard one.  Returns how many there may be then.
std::int64_t allow_descriptors(std::int64_t wanted) noexcept;

}  // namespace plait::base
