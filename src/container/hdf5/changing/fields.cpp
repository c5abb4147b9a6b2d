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
// at offset 856 with a header of 8 bytes. Its data begins at 864 with the version, the class and the number of
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

constexpr std::int64_t kChecksumBytes = 4;
constexpr std::int64_t kNumberBytes = 8;
// Types of messages.
constexpr std::uint64_t kLayoutMessage = 8;
constexpr std::uint64_t kContinuationMessage = 16;
constexpr std::size_t kMaxBlocks = 10'000;  // blocks of a damaged header may refer to each other without end
constexpr std::int64_t kMaxBlockBytes = std::int64_t{64} << 20;

[[noreturn]] void throw_damaged(const store::Store& file, std::string_view what, std::int64_t at) {
  base::throw_system_error(EIO, file.name(), " cannot be changed: ", what, " at offset ", at,
                           " is damaged; copy or download the file again");
}

/// Reads metadata.  errors  kSystem: the range is not inside the file.
std::vector<std::byte> read_block(store::Store& file, std::int64_t at, std::int64_t bytes) {
  const std::int64_t file_bytes = file.size();
  if (at < 0 || bytes < 0 || at > file_bytes || bytes > file_bytes - at || bytes > kMaxBlockBytes)
    throw_damaged(file, "what should be metadata", at);
  std::vector<std::byte> block(static_cast<std::size_t>(bytes));
  file.read({{at, block.data(), bytes}});
  return block;
}

/// Checks the checksum at the end of a block. at: the offset of the block.
void verify_checksum(const store::Store& file, std::span<const std::byte> block, std::int64_t at) {
  const std::size_t bytes = block.size() - kChecksumBytes;
  if (number_in(block, bytes, kChecksumBytes) != lookup3(block.first(bytes)))
    throw_damaged(file, "the check sum of metadata", at);
}

/// Searches the messages of an object header for the layout message, and records the offset of the address in it.
class LayoutFinder {
 public:
  LayoutFinder(store::Store& file, ChangedFields& fields) : file_(file), fields_(fields) {}

  void find(std::int64_t header) {
    // The prefix of a header of version 1 has 16 bytes. A header of version 2 has at least as many bytes in all.
    constexpr std::int64_t kPrefixBytes = 16;
    const std::vector<std::byte> prefix = read_block(file_, header, kPrefixBytes);
    if (std::memcmp(prefix.data(), "OHDR", 4) == 0)
      add_first_block_of_version2(header, prefix);
    else if (prefix[0] == std::byte{1})
      blocks_.push_back({header + kPrefixBytes, static_cast<std::int64_t>(number_in(prefix, 8, 4)), 0});
    else
      throw_damaged(file_, "the header of the dataset", header);
    // find_in_block() appends the blocks to which continuation messages refer.
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (i > kMaxBlocks) throw_damaged(file_, "the header of the dataset", header);
      if (find_in_block(blocks_[i])) return;
    }
    throw_damaged(file_, "the header of the dataset", header);
  }

 private:
  struct Block {
    std::int64_t begin = 0;  ///< offset of the messages
    std::int64_t bytes = 0;
    std::int64_t prefix = 0;  ///< bytes before them that the checksum covers; 0 in version 1
  };
  /// The prefix of version 2: the signature (4 bytes), the version, the flags, four times (16 bytes, optional), two
  /// limits for attributes (4 bytes, optional), and the size of the first block, in 1 to 8 bytes.
  void add_first_block_of_version2(std::int64_t header, std::span<const std::byte> prefix) {
    constexpr unsigned kSizeWidth = 0x3;  // logarithm of the number of bytes of the size
    constexpr unsigned kTracksOrder = 0x4;
    constexpr unsigned kHasLimits = 0x10;
    constexpr unsigned kHasTimes = 0x20;
    const auto flags = number_in(prefix, 5, 1);
    is_version2_ = true;
    tracks_order_ = (flags & kTracksOrder) != 0;
    const std::int64_t prefix_bytes = 6 + ((flags & kHasTimes) != 0 ? 16 : 0) + ((flags & kHasLimits) != 0 ? 4 : 0);
    const std::int64_t size_bytes = std::int64_t{1} << (flags & kSizeWidth);
    const std::vector<std::byte> size = read_block(file_, header + prefix_bytes, size_bytes);
    blocks_.push_back({header + prefix_bytes + size_bytes,
                       static_cast<std::int64_t>(number_in(size, 0, static_cast<std::size_t>(size_bytes))),
                       prefix_bytes + size_bytes});
  }
  /// Searches the messages of a block. Returns true if it has found the layout message.
  bool find_in_block(const Block block) {
    const std::vector<std::byte> bytes = read_block(file_, block.begin, block.bytes);
    if (is_version2_) {
      const std::int64_t with_checksum = block.prefix + block.bytes + kChecksumBytes;
      verify_checksum(file_, read_block(file_, block.begin - block.prefix, with_checksum), block.begin - block.prefix);
    }
    // A message begins with its type (2 bytes; 1 in version 2), the size of its data (2), and flags.
    const std::size_t type_bytes = is_version2_ ? 1 : 2;
    const std::size_t message_header_bytes = !is_version2_ ? 8 : tracks_order_ ? 6 : 4;
    for (std::size_t at = 0; at + message_header_bytes <= bytes.size();) {
      const std::uint64_t type = number_in(bytes, at, type_bytes);
      const auto size = static_cast<std::size_t>(number_in(bytes, at + type_bytes, 2));
      const std::size_t data = at + message_header_bytes;
      if (size > bytes.size() - data) throw_damaged(file_, "a message", block.begin + static_cast<std::int64_t>(at));
      const std::span<const std::byte> message = std::span(bytes).subspan(data, size);
      if (type == kContinuationMessage) add_continuation(message, block);
      if (type == kLayoutMessage) {
        record_layout(message, block, block.begin + static_cast<std::int64_t>(data));
        return true;
      }
      at = data + size;
    }
    return false;
  }
  /// Adds the block to which a continuation message refers. block: the block of the message.
  void add_continuation(std::span<const std::byte> message, const Block& block) {
    if (message.size() < 2 * kNumberBytes) throw_damaged(file_, "a message", block.begin);
    const auto at = static_cast<std::int64_t>(number_in(message, 0, kNumberBytes));
    const auto bytes = static_cast<std::int64_t>(number_in(message, kNumberBytes, kNumberBytes));
    if (!is_version2_) return blocks_.push_back({at, bytes, 0});
    constexpr std::int64_t kSignatureBytes = 4;
    if (at < 0 || at > file_.size() || bytes < kSignatureBytes + kChecksumBytes)
      throw_damaged(file_, "a message", block.begin);
    blocks_.push_back({at + kSignatureBytes, bytes - kSignatureBytes - kChecksumBytes, kSignatureBytes});
  }
  /// Records the fields in a layout message of `block`. at: the offset of the message's data.
  void record_layout(std::span<const std::byte> message, const Block& block, std::int64_t at) {
    constexpr std::size_t kMinBytes = 16;  // the message of each version has more
    if (message.size() < kMinBytes) throw_damaged(file_, "a message", at);
    fields_.layout = at;
    fields_.layout_bytes = std::ssize(message);
    const std::uint64_t version = number_in(message, 0, 1);
    constexpr std::uint64_t kContiguousClass = 1;  // chunked datasets have the layout class 2
    const bool is_contiguous = number_in(message, version < 3 ? 2 : 1, 1) == kContiguousClass;
    if (version > 4 || version == 0 || (version == 4 && !is_contiguous))
      fields_.rejection =
          base::Rejection("its index is one of those that HDF5 has had since 1.10 (written with libver=\"latest\")");
    // The address follows the version, the class and the number of dimensions, of one byte each. Versions 1 and 2 have
    // 5 reserved bytes before it. From version 3 on, contiguous datasets have no number of dimensions.
    fields_.index.offset = at + (version < 3 ? 8 : is_contiguous ? 2 : 3);
    if (!is_version2_) return;
    fields_.index.block = block.begin - block.prefix;
    fields_.index.block_bytes = block.prefix + block.bytes + kChecksumBytes;
  }

  store::Store& file_;
  ChangedFields& fields_;
  bool is_version2_ = false;
  bool tracks_order_ = false;  // messages of version 2 have 2 more bytes, which state the order of creation
  std::vector<Block> blocks_;
};

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(number_in(bytes, at, 4));
}

}  // namespace

std::uint32_t lookup3(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kStart = 0xdeadbeefU;
  constexpr std::size_t kRoundBytes = 12;  // three words
  // The rotations of lookup3's macros mix() and final().
  constexpr std::array kMixRotations{4, 6, 8, 16, 19, 4};
  constexpr std::array kFinalRotations{14, 11, 25, 16, 4, 14, 24};
  std::array<std::uint32_t, 3> state{};
  state.fill(kStart + static_cast<std::uint32_t>(bytes.size()));
  if (bytes.empty()) return state[2];
  for (; bytes.size() > kRoundBytes; bytes = bytes.subspan(kRoundBytes)) {
    for (std::size_t i = 0; i < 3; ++i) state[i] += word_at(bytes, 4 * i);
    for (std::size_t i = 0; i < kMixRotations.size(); ++i) {
      std::uint32_t& word = state[i % 3];
      std::uint32_t& previous = state[(i + 2) % 3];
      word -= previous;
      word ^= std::rotl(previous, kMixRotations[i]);
      previous += state[(i + 1) % 3];
    }
  }
  std::array<std::byte, kRoundBytes> last_round{};
  std::memcpy(last_round.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < 3; ++i) state[i] += word_at(last_round, 4 * i);
  for (std::size_t i = 0; i < kFinalRotations.size(); ++i) {
    // The order of the words is c, a, b, c, a, b, c; each one is mixed with the word before it.
    std::uint32_t& word = state[(i + 2) % 3];
    const std::uint32_t previous = state[(i + 1) % 3];
    word ^= previous;
    word -= std::rotl(previous, kFinalRotations[i]);
  }
  return state[2];
}

std::uint64_t read_number(store::Store& file, const NumberField& field) {
  if (field.block_bytes > 0) verify_checksum(file, read_block(file, field.block, field.block_bytes), field.block);
  return number_in(read_block(file, field.offset, kNumberBytes), 0, kNumberBytes);
}

void write_number(store::Store& file, const NumberField& field, std::uint64_t value) {
  std::array<std::byte, kNumberBytes> number{};
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::byte>(value >> (8 * i));
  if (field.block_bytes == 0) return file.write({{field.offset, number.data(), kNumberBytes}});
  std::vector<std::byte> block = read_block(file, field.block, field.block_bytes);
  verify_checksum(file, block, field.block);
  std::memcpy(block.data() + (field.offset - field.block), number.data(), number.size());
  const std::size_t bytes = block.size() - kChecksumBytes;
  const std::uint32_t checksum = lookup3(std::span(block).first(bytes));
  for (std::size_t i = 0; i < kChecksumBytes; ++i) block[bytes + i] = static_cast<std::byte>(checksum >> (8 * i));
  file.write({{field.block, block.data(), field.block_bytes}});
}

ChangedFields find_length(store::Store& file) {
  constexpr std::int64_t kSuperblockBytes = 64;
  const std::vector<std::byte> superblock = read_block(file, 0, kSuperblockBytes);
  const std::uint64_t version = number_in(superblock, 8, 1);
  const bool has_checksum = version >= 2;
  ChangedFields fields;
  // The version selects the offsets of the sizes of offsets and lengths, and of the base address.
  const std::size_t sizes = has_checksum ? 9 : 13;
  const std::size_t base = version == 0 ? 24 : version == 1 ? 28 : 12;
  fields.length.offset = static_cast<std::int64_t>(base) + 16;
  if (has_checksum) fields.length = {fields.length.offset, 0, 48};
  if (version > 3 || number_in(superblock, sizes, 1) != kNumberBytes ||
      number_in(superblock, sizes + 1, 1) != kNumberBytes || number_in(superblock, base, kNumberBytes) != 0) {
    fields.rejection = base::Rejection(
        "its file has offsets of another size than 8 bytes, or a superblock of a version that Plait does not know");
  }
  return fields;
}

ChangedFields find_fields(store::Store& file, std::int64_t header) {
  ChangedFields fields = find_length(file);
  if (!fields.rejection) LayoutFinder(file, fields).find(header);
  return fields;
}

}  // namespace plait::container::hdf5
