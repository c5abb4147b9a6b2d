/// Memory that the processes of a node share for local arrays, and where each of them finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/process.hpp"

namespace plait::transport {

/// An address in an area, the same for all processes that map it.
struct SharedAddress {
  std::int64_t area = 0;
  std::int64_t offset = 0;
  /// Names the processes that map the area: those of the node that it was made on.
  std::int64_t group = 0;
};

/// This process's part of an area.  The part's memory goes back when this goes; its addresses, and what the others
/// hold, stay until all of them have gone.
class SharedPart {
 public:
  SharedPart(std::int64_t area, std::byte* data, std::int64_t bytes);
  ~SharedPart();
  SharedPart(const SharedPart&) = delete;
  SharedPart& operator=(const SharedPart&) = delete;
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t area_;
  std::byte* data_;
  std::int64_t bytes_;
  base::Owner owner_;
};

/// What an area begins with: nothing of it belongs to a part.
inline constexpr std::int64_t kAreaHeader = 4096;
/// Parts begin at multiples of this, so that each has large pages of its own.
inline constexpr std::int64_t kAreaPage = std::int64_t{2} << 20;

/// Takes a mapping over: `memory` of `bytes` bytes, zero at first, which `holders` parts will be taken from in all
/// processes together.  It is unmapped once they have gone.
void register_area(std::int64_t area, std::int64_t group, std::byte* memory, std::int64_t bytes, int holders);

/// Where an address lies, if it lies in an area.
/// threads  Any.
std::optional<SharedAddress> find_shared(const void* address);
/// Where that is in this process; nullptr where this process does not map its area.
std::byte* locate_shared(const SharedAddress& address);

/// A number for a new area, different from all others of this machine.
std::int64_t new_area_number();

}  // namespace plait::transport
