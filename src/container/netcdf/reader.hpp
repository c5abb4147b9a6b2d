/// Reads big-endian numbers, names and values from the header of a classic netCDF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// Rounds a number of bytes up to a multiple of 4.
inline std::int64_t padded(std::int64_t bytes) { return bytes + (4 - bytes % 4) % 4; }

/// Reads a file sequentially from its first byte on.
class Reader {
 public:
  Reader(store::Store& store, const std::string& file) : store_(store), file_(file), size_(store.size()) {}

  /// Returns the offset of the next byte.
  std::int64_t position() const { return position_; }
  std::int64_t remaining_bytes() const { return size_ - position_; }
  /// Reads a number of 4 or 8 bytes.
  std::uint64_t read_number(int bytes);
  /// Reads, in `bytes` bytes, the number of items that follow, each of at least `min_bytes` bytes. what: the items in
  /// errors.
  /// errors  kSystem: so many items exceed the file.
  std::int64_t read_count(int bytes, std::int64_t min_bytes, const char* what);
  /// Reads a name with its padding. Its length has `bytes_of_count` bytes.
  std::string read_name(int bytes_of_count);
  /// Reads `bytes` bytes, and skips their padding to a multiple of 4.  errors  kSystem: they exceed the file.
  std::vector<std::byte> read_padded(std::int64_t bytes);
  /// Skips bytes.  errors  kSystem: they exceed the file.
  void skip(std::int64_t bytes);

  /// Throws the error that the header is damaged at the current position.
  template <typename... Parts>
  [[noreturn]] void throw_damaged(const Parts&... why) const {
    throw_damaged_at(position_, base::text(why...));
  }
  [[noreturn]] void throw_damaged_at(std::int64_t position, const std::string& why) const;

 private:
  void check_remaining(std::int64_t bytes) const;
  void read(std::byte* data, std::int64_t bytes);

  store::Store& store_;
  const std::string& file_;
  std::int64_t size_;
  std::int64_t position_ = 0;
  std::int64_t loaded_ = 0;  // offset of the block
  std::vector<std::byte> block_;
};

}  // namespace plait::container::netcdf
