// Finding the two fields of an HDF5 file that a change of chunks updates: the length of the file, and the address of
// the chunk index of a dataset. The HDF5 library has no functions that set these fields.
//
// The length is in the superblock, 16 bytes after the base address. The offset of the base address depends on the
// version.
//    version   base address   length   checksum
//    0         24             40       none
//    1         28             44       none
//    2, 3      12             28       bytes 44..47, of bytes 0..43
//
// The address of the index is in the layout message (type 8) of the dataset's object header. The messages of a header
// are in blocks: the first one follows the header, and a continuation message (type 16) has the offset and size of each
// further one. A header of version 2 begins with OHDR, and each of its blocks ends with a checksum.
// Example: an object header of version 1 at offset 800 has a first block at 816. The layout message, of version 3, is
// at offset 856 with a header of 8 bytes. Its data begins at 864 with the version, the kind and the number of
// dimensions, of one byte each, so that the address of the index is at 867.

#include "container/hdf5/changing/fields.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "container/hdf5/changing/numbers.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::int64_t kSumBytes = 4;
constexpr std::int64_t kNumberBytes = 8;
constexpr std::uint64_t kLayout = 8;         // type of the layout message
constexpr std::uint64_t kContinuation = 16;  // type of the continuation message
constexpr std::size_t kMaxBlocks = 10'000;
constexpr std::int64_t kMaxBlockBytes = std::int64_t{64} << 20;

[[noreturn]] void damaged(const store::Store& file, std::string_view what, std::int64_t at) {
  base::throw_system_error(EIO, file.name(), " cannot be changed: ", what, " at offset ", at,
                           " is damaged; copy or download the file again");
}

std::vector<std::byte> read_block(store::Store& file, std::int64_t at, std::int64_t bytes) {
  const std::int64_t all = file.size();
  if (at < 0 || bytes < 0 || at > all || bytes > all - at || bytes > kMaxBlockBytes)
    damaged(file, "what should be metadata", at);
  std::vector<std::byte> block(static_cast<std::size_t>(bytes));
  file.read({{at, block.data(), bytes}});
  return block;
}

void check_sum(const store::Store& file, std::span<const std::byte> block, std::int64_t at) {
  const std::size_t bytes = block.size() - kSumBytes;
  if (number_in(block, bytes, kSumBytes) != lookup3(block.first(bytes))) damaged(file, "the check sum of metadata", at);
}

/// Searches the messages of an object header for the layout message.
class HeaderReader {
 public:
  HeaderReader(store::Store& file, ChangedFields& fields) : file_(file), fields_(fields) {}

  void read(std::int64_t header) {
    // Read the 16 bytes that precede the messages in version 1. A header of version 2 has at least as many bytes.
    constexpr std::int64_t kFirstBytes = 16;
    const std::vector<std::byte> first = read_block(file_, header, kFirstBytes);
    if (std::memcmp(first.data(), "OHDR", 4) == 0)
      read_second(header, first);
    else if (first[0] == std::byte{1})
      blocks_.push_back({header + kFirstBytes, static_cast<std::int64_t>(number_in(first, 8, 4)), 0});
    else
      damaged(file_, "the header of the dataset", header);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i > kMaxBlocks) damaged(file_, "the header of the dataset", header);
      if (take_messages(blocks_[i])) return;
    }
    damaged(file_, "the header of the dataset", header);
  }

 private:
  struct Block {
    std::int64_t begin = 0;  ///< offset of the messages
    std::int64_t bytes = 0;
    std::int64_t prefix = 0;  ///< bytes before them that the checksum covers; 0 in version 1
  };
  void read_second(std::int64_t header, std::span<const std::byte> first) {
    const auto flags = number_in(first, 5, 1);
    is_second_ = true;
    has_order_ = (flags & 4U) != 0;
    const std::int64_t prefix_bytes = 6 + ((flags & 0x20U) != 0 ? 16 : 0) + ((flags & 0x10U) != 0 ? 4 : 0);
    const std::int64_t size_bytes = std::int64_t{1} << (flags & 3U);
    const std::vector<std::byte> size = read_block(file_, header + prefix_bytes, size_bytes);
    blocks_.push_back({header + prefix_bytes + size_bytes,
                       static_cast<std::int64_t>(number_in(size, 0, static_cast<std::size_t>(size_bytes))),
                       prefix_bytes + size_bytes});
  }
  /// Reads the messages of a block. Returns true if the layout message was among them.
  bool take_messages(const Block block) {
    const std::vector<std::byte> bytes = read_block(file_, block.begin, block.bytes);
    if (is_second_) {
      const std::int64_t all = block.prefix + block.bytes + kSumBytes;
      check_sum(file_, read_block(file_, block.begin - block.prefix, all), block.begin - block.prefix);
    }
    const std::size_t head = !is_second_ ? 8 : has_order_ ? 6 : 4;
    for (std::size_t at = 0; at + head <= bytes.size();) {
      const std::uint64_t type = number_in(bytes, at, is_second_ ? 1 : 2);
      const auto size = static_cast<std::size_t>(number_in(bytes, at + (is_second_ ? 1 : 2), 2));
      const std::size_t data = at + head;
      if (size > bytes.size() - data) damaged(file_, "a message", block.begin + static_cast<std::int64_t>(at));
      const std::span<const std::byte> message = std::span(bytes).subspan(data, size);
      if (type == kContinuation) follow(message, block);
      if (type == kLayout) {
        take_layout(message, block, block.begin + static_cast<std::int64_t>(data));
        return true;
      }
      at = data + size;
    }
    return false;
  }
  void follow(std::span<const std::byte> message, const Block& block) {
    if (message.size() < 2 * kNumberBytes) damaged(file_, "a message", block.begin);
    const auto at = static_cast<std::int64_t>(number_in(message, 0, kNumberBytes));
    const auto bytes = static_cast<std::int64_t>(number_in(message, kNumberBytes, kNumberBytes));
    if (!is_second_) return blocks_.push_back({at, bytes, 0});
    constexpr std::int64_t kSignatureBytes = 4;
    if (at < 0 || at > file_.size() || bytes < kSignatureBytes + kSumBytes) damaged(file_, "a message", block.begin);
    blocks_.push_back({at + kSignatureBytes, bytes - kSignatureBytes - kSumBytes, kSignatureBytes});
  }
  void take_layout(std::span<const std::byte> message, const Block& block, std::int64_t at) {
    if (message.size() < 16) damaged(file_, "a message", at);
    fields_.layout = at;
    fields_.layout_bytes = std::ssize(message);
    const std::uint64_t version = number_in(message, 0, 1);
    // The kind: 1 contiguous, 2 chunks.
    const bool is_whole = number_in(message, version < 3 ? 2 : 1, 1) == 1;
    if (version > 4 || version == 0 || (version == 4 && !is_whole))
      fields_.rejection =
          base::Rejection("its index is one of those that HDF5 has had since 1.10 (written with libver=\"latest\")");
    // The address follows the version, the kind and the number of dimensions, of one byte each. Versions 1 and 2 have
    // 5 reserved bytes before it. From version 3 on, contiguous datasets have no number of dimensions.
    fields_.index.at = at + (version < 3 ? 8 : is_whole ? 2 : 3);
    if (!is_second_) return;
    fields_.index.block = block.begin - block.prefix;
    fields_.index.block_bytes = block.prefix + block.bytes + kSumBytes;
  }

  store::Store& file_;
  ChangedFields& fields_;
  bool is_second_ = false;
  bool has_order_ = false;
  std::vector<Block> blocks_;
};

constexpr std::uint32_t kStart = 0xdeadbeefU;

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(number_in(bytes, at, 4));
}

}  // namespace

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  constexpr std::size_t kRound = 12;
  constexpr std::array kMixed{4, 6, 8, 16, 19, 4};
  constexpr std::array kFinal{14, 11, 25, 16, 4, 14, 24};
  std::array<std::uint32_t, 3> state{};
  state.fill(kStart + static_cast<std::uint32_t>(bytes.size()));
  if (bytes.empty()) return state[2];
  for (; bytes.size() > kRound; bytes = bytes.subspan(kRound)) {
    for (std::size_t i = 0; i < 3; ++i) state[i] += word_at(bytes, 4 * i);
    for (std::size_t i = 0; i < kMixed.size(); ++i) {
      std::uint32_t& word = state[i % 3];
      std::uint32_t& previous = state[(i + 2) % 3];
      word -= previous;
      word ^= std::rotl(previous, kMixed[i]);
      previous += state[(i + 1) % 3];
    }
  }
  std::array<std::byte, kRound> rest{};
  std::memcpy(rest.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < 3; ++i) state[i] += word_at(rest, 4 * i);
  for (std::size_t i = 0; i < kFinal.size(); ++i) {
    // The order of the words is c, a, b, c, a, b, c; each one is mixed with the word before it.
    std::uint32_t& word = state[(i + 2) % 3];
    const std::uint32_t previous = state[(i + 1) % 3];
    word ^= previous;
    word -= std::rotl(previous, kFinal[i]);
  }
  return state[2];
}

std::uint64_t read_number(store::Store& file, const NumberField& field) {
  if (field.block_bytes > 0) check_sum(file, read_block(file, field.block, field.block_bytes), field.block);
  return number_in(read_block(file, field.at, kNumberBytes), 0, kNumberBytes);
}

void write_number(store::Store& file, const NumberField& field, std::uint64_t value) {
  std::array<std::byte, kNumberBytes> number{};
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::byte>(value >> (8 * i));
  if (field.block_bytes == 0) return file.write({{field.at, number.data(), kNumberBytes}});
  std::vector<std::byte> block = read_block(file, field.block, field.block_bytes);
  check_sum(file, block, field.block);
  std::memcpy(block.data() + (field.at - field.block), number.data(), number.size());
  const std::size_t bytes = block.size() - kSumBytes;
  const std::uint32_t sum = lookup3(std::span(block).first(bytes));
  for (std::size_t i = 0; i < kSumBytes; ++i) block[bytes + i] = static_cast<std::byte>(sum >> (8 * i));
  file.write({{field.block, block.data(), field.block_bytes}});
}

ChangedFields find_length(store::Store& file) {
  constexpr std::int64_t kSuperblockBytes = 64;
  const std::vector<std::byte> superblock = read_block(file, 0, kSuperblockBytes);
  const std::uint64_t version = number_in(superblock, 8, 1);
  const bool is_old = version < 2;
  ChangedFields fields;
  // The version selects the offsets of the sizes of offsets and lengths, and of the base address.
  const std::size_t sizes = is_old ? 13 : 9;
  const std::size_t base = version == 0 ? 24 : version == 1 ? 28 : 12;
  fields.length.at = static_cast<std::int64_t>(base) + 16;
  if (!is_old) fields.length = {fields.length.at, 0, 48};
  if (version > 3 || number_in(superblock, sizes, 1) != kNumberBytes ||
      number_in(superblock, sizes + 1, 1) != kNumberBytes || number_in(superblock, base, kNumberBytes) != 0) {
    fields.rejection = base::Rejection(
        "its file has offsets of another size than 8 bytes, or a superblock of a version that Plait does not know");
  }
  return fields;
}

ChangedFields find_fields(store::Store& file, std::int64_t header) {
  ChangedFields fields = find_length(file);
  if (!fields.rejection) HeaderReader(file, fields).read(header);
  return fields;
}

}  // namespace plait::container::hdf5
