/// Reads big-endian numbers, names and values of a header.
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

  std::int64_t position() const { return position_; }
  std::int64_t left() const { return size_ - position_; }
  /// Reads a number of 4 or 8 bytes.
  std::uint64_t number(int bytes);
  /// Reads the number of items that follow, each of at least `min_bytes` bytes.  errors  kSystem: they exceed the file.
  std::int64_t count(int bytes, std::int64_t min_bytes, const char* what);
  /// Reads a name with its padding. Its length has `bytes_of_count` bytes.
  std::string name(int bytes_of_count);
  /// Reads `bytes` bytes with their padding to a multiple of 4.  errors  kSystem: they exceed the file.
  std::vector<std::byte> content(std::int64_t bytes);
  /// Skips bytes.  errors  kSystem: they exceed the file.
  void skip(std::int64_t bytes);

  /// Reports an error at the current position.
  template <typename... Parts>
  [[noreturn]] void damaged(const Parts&... why) const {
    damaged_at(position_, base::text(why...));
  }
  [[noreturn]] void damaged_at(std::int64_t position, const std::string& why) const;

 private:
  void expect(std::int64_t bytes) const;
  void read(std::byte* data, std::int64_t bytes);

  store::Store& store_;
  const std::string& file_;
  std::int64_t size_;
  std::int64_t position_ = 0;
  std::int64_t loaded_ = 0;  // offset of the block
  std::vector<std::byte> block_;
};

}  // namespace plait::container::netcdf
