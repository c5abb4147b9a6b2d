// Finding messages in object headers of version 1. Unlike fields.cpp, which reads files of all programs, this code only
// meets headers that the HDF5 library has just written, and treats every other form as an unknown library.

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
constexpr std::size_t kMaxBlocks = 10'000;  // blocks could refer to each other without end

[[noreturn]] void throw_unexpected(const std::string& path, const char* what) {
  base::throw_system_error(EIO, path, " cannot be made: HDF5's library has written ", what,
                           " in a way that Plait does not know; name another version in PLAIT_HDF5");
}

/// The metadata of a new file.
class HeadBytes {
 public:
  HeadBytes(std::span<const std::byte> head, const std::string& path) : head_(head), path_(path) {}

  /// Returns the number in `bytes` bytes at an offset.
  std::uint64_t number(std::int64_t at, std::size_t bytes) const {
    if (at < 0 || static_cast<std::size_t>(at) > head_.size() || bytes > head_.size() - static_cast<std::size_t>(at))
      throw_unknown();
    return number_in(head_, static_cast<std::size_t>(at), bytes);
  }
  /// Returns the offset of the data of the first message of a type, and its size.
  std::pair<std::int64_t, std::int64_t> find_message(std::int64_t header, std::uint64_t message_type) const {
    constexpr std::int64_t kPrefixBytes = 16;  // of a header of version 1
    if (number(header, 1) != 1) throw_unknown();
    // The blocks of messages: the offset and the size of each.
    std::vector<std::pair<std::int64_t, std::int64_t>> blocks{
        {header + kPrefixBytes, static_cast<std::int64_t>(number(header + 8, 4))}};
    // The loop appends the blocks to which continuation messages refer.
    for (std::size_t i = 0; i < blocks.size() && i < kMaxBlocks; ++i) {
      const auto [begin, length] = blocks[i];
      constexpr std::int64_t kMessageHeaderBytes = 8;
      for (std::int64_t at = begin; at + kMessageHeaderBytes <= begin + length;) {
        const std::uint64_t type = number(at, 2);
        const auto size = static_cast<std::int64_t>(number(at + 2, 2));
        const std::int64_t data = at + kMessageHeaderBytes;
        if (type == message_type) return {data, size};
        if (type == kContinuation)
          blocks.emplace_back(static_cast<std::int64_t>(number(data, 8)),
                              static_cast<std::int64_t>(number(data + 8, 8)));
        at = data + size;
      }
    }
    throw_unknown();
  }
  [[noreturn]] void throw_unknown() const { throw_unexpected(path_, "the description of a dataset"); }

 private:
  std::span<const std::byte> head_;
  const std::string& path_;
};

}  // namespace

std::int64_t find_address_field(std::span<const std::byte> head, std::int64_t header, const std::string& path) {
  const HeadBytes bytes(head, path);
  const std::int64_t data = bytes.find_message(header, kLayoutMessage).first;
  constexpr std::uint64_t kLayoutVersion = 3;
  constexpr std::uint64_t kContiguousClass = 1;
  constexpr std::uint64_t kChunkedClass = 2;
  constexpr std::uint64_t kUndefinedAddress = ~std::uint64_t{0};
  const std::uint64_t layout_class = bytes.number(data + 1, 1);
  if (bytes.number(data, 1) != kLayoutVersion || (layout_class != kContiguousClass && layout_class != kChunkedClass))
    bytes.throw_unknown();
  // For chunks the message has the number of dimensions between the class and the address.
  const std::int64_t address_field = data + (layout_class == kContiguousClass ? 2 : 3);
  if (bytes.number(address_field, 8) != kUndefinedAddress) bytes.throw_unknown();
  return address_field;
}

std::vector<std::byte> find_fill(std::span<const std::byte> head, std::int64_t header, const std::string& path) {
  const HeadBytes bytes(head, path);
  const auto [data, size] = bytes.find_message(header, kFillMessage);
  // Before the value: the version (1 byte), three bytes of properties, and the size of the value (4 bytes).
  constexpr std::int64_t kValueOffset = 8;
  if (bytes.number(data, 1) != 2 || size < kValueOffset) bytes.throw_unknown();
  const auto length = static_cast<std::int64_t>(bytes.number(data + 4, 4));
  if (length != ArrayType::kTextBytes || length > size - kValueOffset) bytes.throw_unknown();
  const std::span<const std::byte> value =
      head.subspan(static_cast<std::size_t>(data + kValueOffset), static_cast<std::size_t>(length));
  return {value.begin(), value.end()};
}

std::int64_t find_length_field(std::span<const std::byte> head, const std::string& path) {
  constexpr std::int64_t kVersionOffset = 8;
  constexpr std::int64_t kLengthOffset = 40;
  const HeadBytes bytes(head, path);
  if (bytes.number(kVersionOffset, 1) != 0) throw_unexpected(path, "the superblock");
  return kLengthOffset;
}

void put_number(std::span<std::byte> head, std::int64_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) head[static_cast<std::size_t>(at) + i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace plait::container::hdf5
