#include "container/netcdf/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errors.hpp"

namespace plait::container::netcdf {

namespace {

constexpr std::int64_t kBlock = std::int64_t{64} << 10;

}  // namespace

void Reader::throw_damaged_at(std::int64_t position, const std::string& why) const {
  base::throw_system_error(EIO, "cannot open ", file_, " as netCDF: its header is wrong at byte ", position, ": ", why,
                           "; copy or download the file again");
}

void Reader::check_remaining(std::int64_t bytes) const {
  if (bytes > remaining_bytes()) throw_damaged(bytes, " more bytes are needed, but the file ends at byte ", size_);
}

void Reader::read(std::byte* data, std::int64_t bytes) {
  check_remaining(bytes);
  while (bytes > 0) {
    const std::int64_t loaded_end = loaded_ + static_cast<std::int64_t>(block_.size());
    if (position_ < loaded_ || position_ >= loaded_end) {
      loaded_ = position_;
      block_.resize(static_cast<std::size_t>(std::min(kBlock, size_ - position_)));
      store_.read({{loaded_, block_.data(), static_cast<std::int64_t>(block_.size())}});
      continue;
    }
    const std::int64_t taken = std::min(bytes, loaded_end - position_);
    std::memcpy(data, block_.data() + (position_ - loaded_), static_cast<std::size_t>(taken));
    data += taken;
    bytes -= taken;
    position_ += taken;
  }
}

std::uint64_t Reader::read_number(int bytes) {
  std::array<std::byte, 8> buffer{};
  read(buffer.data(), bytes);
  std::uint64_t number = 0;
  for (int i = 0; i < bytes; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(buffer[static_cast<std::size_t>(i)]);
  return number;
}

std::int64_t Reader::read_count(int bytes, std::int64_t min_bytes, const char* what) {
  const std::int64_t at = position_;
  const std::uint64_t found = read_number(bytes);
  if (found > static_cast<std::uint64_t>(remaining_bytes() / min_bytes))
    throw_damaged_at(at,
                     base::text(found, " ", what, " do not fit into the ", remaining_bytes(), " bytes that follow"));
  return static_cast<std::int64_t>(found);
}

std::string Reader::read_name(int bytes_of_count) {
  const std::int64_t length = read_count(bytes_of_count, 1, "bytes of a name");
  std::string name(static_cast<std::size_t>(length), '\0');
  read(reinterpret_cast<std::byte*>(name.data()), length);
  skip(padded(length) - length);
  // Some writers include the NUL of a C string, or a whole buffer, in the name; netCDF's library ends names at the NUL.
  return name.substr(0, name.find('\0'));
}

std::vector<std::byte> Reader::read_padded(std::int64_t bytes) {
  check_remaining(bytes);
  std::vector<std::byte> content(static_cast<std::size_t>(bytes));
  read(content.data(), bytes);
  skip(padded(bytes) - bytes);
  return content;
}

void Reader::skip(std::int64_t bytes) {
  check_remaining(bytes);
  position_ += bytes;
}

}  // namespace plait::container::netcdf
