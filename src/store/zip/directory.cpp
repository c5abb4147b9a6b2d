// Reading and writing the directory of a zip file.
//
// A zip file is read from its end. The end record, which has the offset of the directory, is followed by a comment; the
// last signature of an end record whose comment extends exactly to the end of the file is the right one. Numbers that
// do not fit in 16 or 32 bits have all bits set in their fields, and are stored in the 64-bit extensions (ZIP64).
// Example: one entry `a.npy` of 200 bytes. Its local header is at offset 0 with 30 + 5 = 35 bytes, and padding moves
// the content to 64..263. The directory at 264 has one entry of 46 + 5 = 51 bytes, and the end record is at 315 with 22
// bytes. The file has 337 bytes.
//
// All values of the directory and of local headers are checked: entries must neither overlap nor extend into the
// directory, so that reading an array cannot read bytes of another one.

#include "store/zip/directory.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "base/errors.hpp"
#include "store/zip/fields.hpp"

namespace plait::store::zip {

namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kZip64EndSignature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::int64_t kEntryBytes = 46;
constexpr std::int64_t kEndBytes = 22;
constexpr std::int64_t kZip64EndBytes = 56;
constexpr std::int64_t kLocatorBytes = 20;
constexpr std::int64_t kMaxCommentBytes = 65535;
constexpr std::int64_t kMaxDirectoryBytes = std::int64_t{256} << 20;
constexpr std::uint16_t kZip64ExtraId = 1;
// The padding field that Android's zipalign writes: two bytes with the alignment, then zeros.
constexpr std::uint16_t kAlignmentExtraId = 0xd935;
constexpr std::uint16_t kUtf8Flag = 0x800;
// Values of fields whose number is in the 64-bit extensions.
constexpr std::uint32_t kInZip64 = 0xffffffff;
constexpr std::uint16_t kInZip64Short = 0xffff;
// 1980-01-01, the earliest possible date. A fixed date makes equal arrays yield equal files.
constexpr std::uint32_t kDate = 0x00210000;
constexpr std::uint16_t kVersion = 45;  // version of the first programs that support the 64-bit extensions

template <typename... Parts>
[[noreturn]] void throw_damaged(const std::string& file, std::int64_t offset, const Parts&... why) {
  base::throw_system_error(EIO, "cannot open ", file, " as a zip file: at byte ", offset, " ", why...,
                           "; copy or download the file again");
}

std::vector<std::byte> read_bytes(store::Store& store, std::int64_t begin, std::int64_t length) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  store.read({{begin, bytes.data(), length}});
  return bytes;
}

/// The location of the directory, and the number of its entries.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  std::int64_t end = 0;  ///< offset of its end record
};

/// Reads the location of the directory from the ZIP64 end record. A locator before the end record at `end` has its
/// offset. Returns nothing if there is no locator.
std::optional<Extent> find_zip64_extent(store::Store& store, std::int64_t end, const std::string& file) {
  const std::int64_t at = end - kLocatorBytes;
  if (at < 0) return std::nullopt;
  const std::vector<std::byte> locator = read_bytes(store, at, kLocatorBytes);
  Fields fields(locator);
  if (fields.take<std::uint32_t>() != kLocatorSignature) return std::nullopt;
  fields.skip(4);
  const auto begin = static_cast<std::int64_t>(fields.take<std::uint64_t>());
  if (begin < 0 || begin > at - kZip64EndBytes)
    throw_damaged(file, at, "the end of the directory is said to lie at byte ", begin);
  const std::vector<std::byte> record = read_bytes(store, begin, kZip64EndBytes);
  Fields record_fields(record);
  if (record_fields.take<std::uint32_t>() != kZip64EndSignature)
    throw_damaged(file, begin, "there is no end of a directory");
  record_fields.skip(28);  // size of the record, versions, numbers of disks, entries on this disk
  const auto count = record_fields.take<std::uint64_t>();
  const auto bytes = record_fields.take<std::uint64_t>();
  const auto first = record_fields.take<std::uint64_t>();
  if (std::max({count, bytes, first}) > static_cast<std::uint64_t>(begin))
    throw_damaged(file, begin, "the directory is said to lie outside of the file");
  return Extent{static_cast<std::int64_t>(first), static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(count),
                begin};
}

/// Finds the end record, and returns the location of the directory that it states.
Extent find_directory(store::Store& store, const std::string& file) {
  const std::int64_t size = store.size();
  const std::int64_t length = std::min(size, kEndBytes + kMaxCommentBytes);
  const std::vector<std::byte> tail = read_bytes(store, size - length, length);
  std::int64_t at = length - kEndBytes;
  for (; at >= 0; --at) {
    Fields fields{std::span(tail).subspan(static_cast<std::size_t>(at))};
    if (fields.take<std::uint32_t>() != kEndSignature) continue;
    fields.skip(16);  // to the length of the comment
    if (at + kEndBytes + fields.take<std::uint16_t>() == length) break;
  }
  if (at < 0) throw_damaged(file, size, "it ends without a directory of its arrays");
  Fields end{std::span(tail).subspan(static_cast<std::size_t>(at) + 4)};
  Extent extent;
  extent.end = size - length + at;
  const auto disk = end.take<std::uint16_t>();
  const auto first_disk = end.take<std::uint16_t>();
  end.skip(2);  // number of entries on this disk
  extent.count = end.take<std::uint16_t>();
  extent.bytes = end.take<std::uint32_t>();
  extent.begin = end.take<std::uint32_t>();
  const bool uses_zip64 = extent.count == kInZip64Short || extent.bytes == kInZip64 || extent.begin == kInZip64;
  const std::optional<Extent> zip64_extent = uses_zip64 ? find_zip64_extent(store, extent.end, file) : std::nullopt;
  if (zip64_extent) {
    extent = *zip64_extent;
  } else if (disk != 0 || first_disk != 0) {
    throw_damaged(file, extent.end, "the archive is said to be in several parts, which Plait does not read");
  }
  if (extent.begin > extent.end || extent.bytes > extent.end - extent.begin)
    throw_damaged(file, extent.end, "the directory is said to have ", extent.bytes, " bytes from byte ", extent.begin,
                  " on");
  if (extent.bytes > kMaxDirectoryBytes)
    throw_damaged(file, extent.end, "the directory is said to have ", extent.bytes, " bytes, and Plait reads ",
                  kMaxDirectoryBytes);
  if (extent.count > extent.bytes / kEntryBytes)
    throw_damaged(file, extent.end, "the directory is said to have ", extent.count, " entries in ", extent.bytes,
                  " bytes");
  return extent;
}

/// Reads the numbers that do not fit in their fields from the 64-bit extension. is_extended: for the size of the
/// content, the size in the archive, and the offset of the header, true if the number is in the extension.
void take_zip64_numbers(Entry& entry, std::span<const std::byte> extra, bool (&is_extended)[3]) {
  Fields fields(extra);
  while (fields.remaining() >= 4) {
    const auto id = fields.take<std::uint16_t>();
    const auto length = fields.take<std::uint16_t>();
    if (length > fields.remaining()) return;
    Fields inside(fields.take_bytes(length));
    if (id != kZip64ExtraId) continue;
    std::int64_t* const numbers[] = {&entry.content_bytes, &entry.compressed_bytes, &entry.header};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!is_extended[i] || inside.remaining() < 8) continue;
      *numbers[i] =
          static_cast<std::int64_t>(inside.take<std::uint64_t>());  // check_overlaps() rejects negative numbers
      is_extended[i] = false;
    }
  }
}

/// Removes all entries of a name but the last one.  errors  kSystem: there are several, and `equal` is kReject.
void remove_replaced(std::vector<Entry>& entries, const Extent& extent, const std::string& file, EqualNames equal) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const std::string& { return entries[i].name; });
  std::vector<bool> replaced(entries.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (entries[order[i]].name != entries[order[i - 1]].name) continue;
    if (equal == EqualNames::kReject)
      throw_damaged(file, extent.begin, "the directory has two entries of the name \"", entries[order[i]].name, '"');
    replaced[order[i - 1]] = true;
  }
  std::erase_if(entries,
                [&](const Entry& entry) { return replaced[static_cast<std::size_t>(&entry - entries.data())]; });
}

/// Checks that entries do not overlap, and sets their limits.
void check_overlaps(std::vector<Entry>& entries, const Extent& extent, const std::string& file) {
  std::vector<Entry*> order;
  order.reserve(entries.size());
  for (Entry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, &Entry::header);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t end = i + 1 < order.size() ? order[i + 1]->header : extent.begin;
    Entry& entry = *order[i];
    entry.limit = end;
    const std::int64_t header_bytes = kLocalHeaderBytes + static_cast<std::int64_t>(entry.name.size());
    if (entry.header < 0 || entry.compressed_bytes < 0 || entry.content_bytes < 0 || entry.header > end ||
        header_bytes > end - entry.header || entry.compressed_bytes > end - entry.header - header_bytes)
      throw_damaged(file, extent.begin, "the directory says that \"", entry.name, "\" has ", entry.compressed_bytes,
                    " bytes after byte ", entry.header, ", more than there are before byte ", end);
  }
}

}  // namespace

std::vector<Entry> read_directory(store::Store& store, const std::string& file, EqualNames equal) {
  const Extent extent = find_directory(store, file);
  const std::vector<std::byte> bytes = read_bytes(store, extent.begin, extent.bytes);
  Fields fields(bytes);
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(extent.count));
  for (std::int64_t i = 0; i < extent.count; ++i) {
    const std::int64_t offset = extent.begin + extent.bytes - static_cast<std::int64_t>(fields.remaining());
    if (fields.remaining() < kEntryBytes || fields.take<std::uint32_t>() != kEntrySignature)
      throw_damaged(file, offset, "there is no entry of the directory, which is said to have ", extent.count);
    fields.skip(4);  // versions of the program that wrote the entry, and of those that can read it
    Entry entry;
    entry.flags = fields.take<std::uint16_t>();
    entry.method = fields.take<std::uint16_t>();
    fields.skip(4);  // time and date of change
    entry.check_sum = fields.take<std::uint32_t>();
    entry.compressed_bytes = fields.take<std::uint32_t>();
    entry.content_bytes = fields.take<std::uint32_t>();
    const auto name_bytes = fields.take<std::uint16_t>();
    const auto extra_bytes = fields.take<std::uint16_t>();
    const auto comment_bytes = fields.take<std::uint16_t>();
    fields.skip(8);  // number of the disk, attributes
    entry.header = fields.take<std::uint32_t>();
    if (std::size_t{name_bytes} + extra_bytes + comment_bytes > fields.remaining())
      throw_damaged(file, offset, "an entry of the directory ends behind it");
    const auto name = fields.take_bytes(name_bytes);
    entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    bool is_extended[3] = {entry.content_bytes == kInZip64, entry.compressed_bytes == kInZip64,
                           entry.header == kInZip64};
    take_zip64_numbers(entry, fields.take_bytes(extra_bytes), is_extended);
    fields.skip(comment_bytes);
    entries.push_back(std::move(entry));
  }
  check_overlaps(entries, extent, file);
  remove_replaced(entries, extent, file, equal);
  return entries;
}

std::int64_t find_data_begin(store::Store& store, const Entry& entry, const std::string& file) {
  return find_data_begin(read_bytes(store, entry.header, kLocalHeaderBytes), entry, file);
}

std::int64_t find_data_begin(std::span<const std::byte> header, const Entry& entry, const std::string& file) {
  Fields fields(header);
  if (fields.take<std::uint32_t>() != kLocalSignature)
    throw_damaged(file, entry.header, "there is no header of \"", entry.name, '"');
  fields.skip(22);  // to the length of the name
  const std::int64_t name_bytes = fields.take<std::uint16_t>();
  const std::int64_t extra_bytes = fields.take<std::uint16_t>();
  const std::int64_t begin = entry.header + kLocalHeaderBytes + name_bytes + extra_bytes;
  // Check again: check_overlaps() assumed a local header with the name in the directory and no extra fields.
  if (entry.compressed_bytes > entry.limit - begin)
    throw_damaged(file, begin, "\"", entry.name, "\" should have ", entry.compressed_bytes,
                  " bytes, but the next entry begins at byte ", entry.limit);
  return begin;
}

namespace {

/// Size of the extension with both sizes in a local header: identifier and length of the field, and two numbers.
constexpr int kLocalZip64Bytes = 2 + 2 + 8 + 8;

bool needs_zip64(std::int64_t number) { return number >= static_cast<std::int64_t>(kInZip64); }
std::uint32_t to_32_bits(std::int64_t number) {
  return needs_zip64(number) ? kInZip64 : static_cast<std::uint32_t>(number);
}

std::uint16_t entry_flags(const Entry& entry) {
  return std::ranges::all_of(entry.name, [](char c) { return static_cast<unsigned char>(c) < 0x80; }) ? 0 : kUtf8Flag;
}

/// Writes the fields that local headers and the directory share.
void put_common(Writer& out, const Entry& entry) {
  out.put(kVersion).put(entry_flags(entry)).put(entry.method).put(kDate).put(entry.check_sum);
  out.put(to_32_bits(entry.compressed_bytes))
      .put(to_32_bits(entry.content_bytes))
      .put(static_cast<std::uint16_t>(entry.name.size()));
}

}  // namespace

std::int64_t local_header_bytes(const Entry& entry) {
  return kLocalHeaderBytes + static_cast<std::int64_t>(entry.name.size()) +
         (needs_zip64(entry.content_bytes) ? kLocalZip64Bytes : 0);
}

std::vector<std::byte> encode_local_header(const Entry& entry, std::int64_t begin) {
  const std::int64_t padding = begin - entry.header - local_header_bytes(entry);
  Writer out;
  out.put(kLocalSignature);
  put_common(out, entry);
  out.put(static_cast<std::uint16_t>(padding + (needs_zip64(entry.content_bytes) ? kLocalZip64Bytes : 0)))
      .put(entry.name);
  if (needs_zip64(entry.content_bytes))
    out.put(kZip64ExtraId)
        .put(std::uint16_t{16})
        .put(std::uint64_t(entry.content_bytes))
        .put(std::uint64_t(entry.compressed_bytes));
  if (padding > 0) {  // identifier and length of the field with 2 bytes each, the alignment, and zeros
    out.put(kAlignmentExtraId).put(static_cast<std::uint16_t>(padding - 4)).put(std::uint16_t{64});
    out.put(std::string(static_cast<std::size_t>(padding - 6), '\0'));
  }
  return out.take();
}

std::vector<std::byte> encode_directory(const std::vector<Entry>& entries, std::int64_t begin) {
  Writer out;
  for (const Entry& entry : entries) {
    Writer extra;
    if (needs_zip64(entry.content_bytes))
      extra.put(std::uint64_t(entry.content_bytes)).put(std::uint64_t(entry.compressed_bytes));
    if (needs_zip64(entry.header)) extra.put(std::uint64_t(entry.header));
    const std::vector<std::byte> numbers = extra.take();
    out.put(kEntrySignature).put(kVersion);
    put_common(out, entry);
    out.put(static_cast<std::uint16_t>(numbers.empty() ? 0 : numbers.size() + 4));
    out.put(std::string(10, '\0')).put(to_32_bits(entry.header)).put(entry.name);
    if (numbers.empty()) continue;
    out.put(kZip64ExtraId).put(static_cast<std::uint16_t>(numbers.size())).put(numbers);
  }
  const std::int64_t bytes = out.size();
  const auto count = static_cast<std::int64_t>(entries.size());
  if (needs_zip64(begin) || needs_zip64(bytes) || count >= kInZip64Short) {
    const std::uint64_t end = std::uint64_t(begin) + std::uint64_t(bytes);
    // The size of the record does not count its signature and the size itself.
    out.put(kZip64EndSignature).put(std::uint64_t{kZip64EndBytes - 12}).put(kVersion).put(kVersion);
    out.put(std::uint64_t{0}).put(std::uint64_t(count)).put(std::uint64_t(count));
    out.put(std::uint64_t(bytes)).put(std::uint64_t(begin));
    out.put(kLocatorSignature).put(std::uint32_t{0}).put(end).put(std::uint32_t{1});
  }
  const auto short_count = static_cast<std::uint16_t>(std::min<std::int64_t>(count, kInZip64Short));
  out.put(kEndSignature).put(std::uint32_t{0}).put(short_count).put(short_count);
  out.put(to_32_bits(bytes)).put(to_32_bits(begin)).put(std::uint16_t{0});
  return out.take();
}

}  // namespace plait::store::zip
