#include "container/hdf5/writing/object_header.hpp"

#include <cerrno>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "container/hdf5/changing/numbers.hpp"
#include "plait/array_description.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::uint64_t kFillMessage = 5;
constexpr std::uint64_t kLayoutMessage = 8;
constexpr std::uint64_t kContinuation = 16;
constexpr std::size_t kMaxBlocks = 10'000;

[[noreturn]] void throw_unexpected(const std::string& path, const char* what) {
  base::throw_system_error(EIO, path, " cannot be made: HDF5's library has written ", what,
                           " in a way that Plait does not know; name another version in PLAIT_HDF5");
}

class HeaderBytes {
 public:
  HeaderBytes(std::span<const std::byte> head, const std::string& path) : head_(head), path_(path) {}

  std::uint64_t number(std::int64_t at, std::size_t bytes) const {
    if (at < 0 || static_cast<std::size_t>(at) > head_.size() || bytes > head_.size() - static_cast<std::size_t>(at))
      unknown();
    return number_in(head_, static_cast<std::size_t>(at), bytes);
  }
  /// Returns the offset of the data of the first message of a type, and its size.
  std::pair<std::int64_t, std::int64_t> find_message(std::int64_t header, std::uint64_t message_type) const {
    if (number(header, 1) != 1) unknown();
    std::vector<std::pair<std::int64_t, std::int64_t>> blocks{
        {header + 16, static_cast<std::int64_t>(number(header + 8, 4))}};
    for (std::size_t i = 0; i < blocks.size() && i < kMaxBlocks; ++i) {
      const auto [begin, length] = blocks[i];
      for (std::int64_t at = begin; at + 8 <= begin + length;) {
        const std::uint64_t type = number(at, 2);
        const auto size = static_cast<std::int64_t>(number(at + 2, 2));
        const std::int64_t data = at + 8;
        if (type == message_type) return {data, size};
        if (type == kContinuation)
          blocks.emplace_back(static_cast<std::int64_t>(number(data, 8)),
                              static_cast<std::int64_t>(number(data + 8, 8)));
        at = data + size;
      }
    }
    unknown();
  }
  [[noreturn]] void unknown() const { throw_unexpected(path_, "the description of a dataset"); }

 private:
  std::span<const std::byte> head_;
  const std::string& path_;
};

}  // namespace

std::int64_t find_address_field(std::span<const std::byte> head, std::int64_t header, const std::string& path) {
  const HeaderBytes bytes(head, path);
  const std::int64_t data = bytes.find_message(header, kLayoutMessage).first;
  const std::uint64_t kind = bytes.number(data + 1, 1);
  if (bytes.number(data, 1) != 3 || (kind != 1 && kind != 2)) bytes.unknown();
  // For chunks (kind 2) the message has the number of dimensions between the kind and the address.
  const std::int64_t address = data + (kind == 1 ? 2 : 3);
  if (bytes.number(address, 8) != ~std::uint64_t{0}) bytes.unknown();
  return address;
}

std::vector<std::byte> find_fill(std::span<const std::byte> head, std::int64_t header, const std::string& path) {
  const HeaderBytes bytes(head, path);
  const auto [data, size] = bytes.find_message(header, kFillMessage);
  // Before the value: the version (1 byte), three bytes of properties, and the size of the value (4 bytes).
  constexpr std::int64_t kBefore = 8;
  if (bytes.number(data, 1) != 2 || size < kBefore) bytes.unknown();
  const auto length = static_cast<std::int64_t>(bytes.number(data + 4, 4));
  if (length != ArrayType::kTextBytes || length > size - kBefore) bytes.unknown();
  const std::span<const std::byte> value =
      head.subspan(static_cast<std::size_t>(data + kBefore), static_cast<std::size_t>(length));
  return {value.begin(), value.end()};
}

std::int64_t find_length_field(std::span<const std::byte> head, const std::string& path) {
  constexpr std::int64_t kVersion = 8;
  constexpr std::int64_t kLength = 40;
  const HeaderBytes bytes(head, path);
  if (bytes.number(kVersion, 1) != 0) throw_unexpected(path, "the superblock");
  return kLength;
}

void put_number(std::span<std::byte> head, std::int64_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) head[static_cast<std::size_t>(at) + i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace plait::container::hdf5
