/// Memory that the processes of a node share for local arrays, and its addresses in each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/process.hpp"

namespace plait::transport {

/// An address in an area (memory of one share() call), in a form that is valid in all processes that map the area.
struct SharedAddress {
  std::int64_t area = 0;
  std::int64_t offset = 0;
  /// Identifies the processes that map the area: those of the node on which it was created.
  std::int64_t group = 0;
};

/// This process's part of an area.  Its destructor returns the memory of the part to the system; its addresses, and the
/// parts of other processes, remain until all parts are destroyed.
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

/// Bytes at the beginning of an area that belong to no part.
inline constexpr std::int64_t kAreaHeader = 4096;
/// Parts begin at multiples of this, so that no two parts share a large page.
inline constexpr std::int64_t kAreaPage = std::int64_t{2} << 20;

/// Takes ownership of a mapping of `bytes` zero bytes, which is divided into `holders` parts, one for each process.
/// Each process unmaps it after the last part is destroyed.
void register_area(std::int64_t area, std::int64_t group, std::byte* memory, std::int64_t bytes, int holders);

/// Returns the area and offset of an address, if it is in an area.
/// threads  Any.
std::optional<SharedAddress> find_shared(const void* address);
/// Returns the address in this process; nullptr if this process does not map its area.
std::byte* locate_shared(const SharedAddress& address);

/// Returns a number for a new area, different from all others of this machine.
std::int64_t new_area_number();

}  // namespace plait::transport
