/// The directory at the end of zip files (PKWARE's APPNOTE 6.3, with ZIP64, the 64-bit extensions), and the local
/// header before each file in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/encoding/traits.hpp"
#include "store/store.hpp"

namespace plait::store::zip {

/// A file in the archive, as the directory describes it.
struct Entry {
  std::string name;
  std::uint16_t method = 0;  ///< method of compression
  std::uint16_t flags = 0;
  std::uint32_t check_sum = 0;        ///< CRC-32 of the content
  std::int64_t compressed_bytes = 0;  ///< size in the archive
  std::int64_t content_bytes = 0;     ///< size of the content
  std::int64_t header = 0;            ///< offset of its local header
  std::int64_t limit = 0;  ///< end of its bytes at most: offset of the next local header or of the directory; set by
                           ///< read_directory()

  bool encrypted() const { return (flags & 1U) != 0; }
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Entry>& entry) {
  codec(entry.name, entry.method, entry.flags, entry.check_sum, entry.compressed_bytes, entry.content_bytes,
        entry.header, entry.limit);
}

// Methods of compression.
inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

/// Treatment of several entries with the same name. A program that replaces a file in an archive appends another entry
/// with the name of that file.
enum class EqualNames : std::uint8_t {
  kReject,
  kLast  ///< the last entry is the file
};

/// Reads the entries in the order of the directory. file: the name in errors.
/// errors  kSystem: the file is not a zip file, or is damaged: entries overlap or are outside the file, or two have the
///         same name although `equal` is kReject.
/// cost  Proportional to the size of the directory, which is at most 256 MiB.
std::vector<Entry> read_directory(store::Store& store, const std::string& file, EqualNames equal = EqualNames::kReject);

/// Reads the local header of an entry, and returns the offset of the entry's bytes.
/// errors  kSystem: the local header is damaged, or its bytes extend beyond `entry.limit`.
std::int64_t find_data_begin(store::Store& store, const Entry& entry, const std::string& file);

/// Returns the offset of the bytes of an entry. header: the first kLocalHeaderBytes bytes of its local header.
/// errors  kSystem: those of the function above.
std::int64_t find_data_begin(std::span<const std::byte> header, const Entry& entry, const std::string& file);
/// Size of a local header before the name.
inline constexpr std::int64_t kLocalHeaderBytes = 30;

/// Makes the local header of an entry at `entry.header`, with padding such that the content begins at `begin`. The
/// padding has at least 8 bytes, or none.
std::vector<std::byte> encode_local_header(const Entry& entry, std::int64_t begin);
/// Returns the size of the local header without padding.
std::int64_t local_header_bytes(const Entry& entry);
/// Makes the directory at offset `begin`, and the end record after it.
std::vector<std::byte> encode_directory(const std::vector<Entry>& entries, std::int64_t begin);

}  // namespace plait::store::zip
