/// Numbers and names of a header, big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// Bytes with what fills them up to a whole number of 4.
inline std::int64_t padded(std::int64_t bytes) { return bytes + (4 - bytes % 4) % 4; }

/// Reads a file from its first byte on.
class Reader {
 public:
  Reader(store::Store& store, const std::string& file) : store_(store), file_(file), size_(store.size()) {}

  std::int64_t position() const { return position_; }
  std::int64_t left() const { return size_ - position_; }
  /// A number of 4 or 8 bytes.
  std::uint64_t number(int bytes);
  /// What counts something, of which each takes `least` bytes of the header.  errors  kSystem: more than there can be.
  std::int64_t count(int bytes, std::int64_t least, const char* what);
  /// A name of `bytes_of_count`, with what fills it up to 4 bytes.
  std::string name(int bytes_of_count);
  /// So many bytes, with what fills them up to 4.  errors  kSystem: behind the end.
  std::vector<std::byte> content(std::int64_t bytes);
  /// errors  kSystem: behind the end.
  void skip(std::int64_t bytes);

  /// Throws a mistake at this position, or at another one.
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
  std::int64_t loaded_ = 0;  // where the block begins
  std::vector<std::byte> block_;
};

}  // namespace plait::container::netcdf
