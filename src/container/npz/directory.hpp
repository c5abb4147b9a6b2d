/// The directory at the end of zip files (PKWARE's APPNOTE 6.3, with the 64-bit extensions), and the header
/// before each file in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace plait::container::npz {

/// A file in the archive, as the directory has it.
struct Entry {
  std::string name;
  std::uint16_t method = 0;  ///< of packing
  std::uint16_t flags = 0;
  std::uint32_t check_sum = 0;  ///< CRC-32 of the content
  std::int64_t packed = 0;      ///< bytes in the archive
  std::int64_t unpacked = 0;    ///< bytes of the content
  std::int64_t header = 0;      ///< where its header begins

  bool encrypted() const { return (flags & 1U) != 0; }
};

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

/// In the order of the directory.
/// errors  kSystem: no zip file, or a damaged one, and where: entries that overlap or lie outside of the file, and two
///         of one name.
/// cost    In the order of the directory's size, which is 256 MiB at most.
std::vector<Entry> read_directory(store::Store& store, const std::string& file);

/// Where the bytes of an entry begin.  errors  kSystem: its header is damaged.
std::int64_t data_begin(store::Store& store, const Entry& entry, const std::string& file);

/// What stands before the content, with blanks in it such that the content begins at `begin` where the header is
/// to lie at `entry.header`.  By 8 bytes or more apart from the shortest one, or by none.
std::vector<std::byte> local_header(const Entry& entry, std::int64_t begin);
/// The shortest one has so many bytes.
std::int64_t local_header_bytes(const Entry& entry);
/// The directory, to lie at `begin`, and the end of the archive.
std::vector<std::byte> directory(const std::vector<Entry>& entries, std::int64_t begin);

}  // namespace plait::container::npz
