/// An open file and the errors of the system calls on it.
#pragma once

#include <cstdint>
#include <string>

#include "plait/error.hpp"

namespace plait::store::posix {

/// `cannot read field.npy at offset 128: Input/output error`; `what` is `read field.npy at offset 128`.
Error system_error(const std::string& what, int code);

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int number() const { return number_; }
  void close();

 private:
  int number_ = -1;
};

/// `shown` is the name that errors use, where it is not the path itself.
/// errors  kSystem: the path and why it cannot be opened, with a hint for a missing folder and missing permission.
Descriptor open_file(const std::string& path, int flags, unsigned mode = 0666, const std::string& shown = {});

}  // namespace plait::store::posix
