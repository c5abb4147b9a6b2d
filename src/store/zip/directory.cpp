// Reading and writing the directory of a zip file.
//
// A zip file is read from its end. The end record is the last one whose comment extends exactly to the end of the file;
// it has the offset of the directory. Numbers that do not fit in 16 or 32 bits have all bits set in the record, and are
// stored in 64-bit extensions.
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
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::int64_t kLocalBytes = kLocalHeaderBytes;
constexpr std::int64_t kEntryBytes = 46;
constexpr std::int64_t kEndBytes = 22;
constexpr std::int64_t kEnd64Bytes = 56;
constexpr std::int64_t kLocatorBytes = 20;
constexpr std::int64_t kMaxComment = 65535;
constexpr std::int64_t kMaxDirectory = std::int64_t{256} << 20;
constexpr std::uint16_t kExtra64 = 1;
// The padding field that Android's zipalign writes: two bytes with the alignment, then zeros.
constexpr std::uint16_t kExtraAlignment = 0xd935;
constexpr std::uint16_t kUtf8 = 0x800;
constexpr std::uint32_t kSee64 = 0xffffffff;
constexpr std::uint16_t kSee64Short = 0xffff;
// 1980-01-01, the earliest possible date. A fixed date makes equal arrays yield equal files.
constexpr std::uint32_t kDate = 0x00210000;
constexpr std::uint16_t kVersion = 45;  // version of the first programs that support the 64-bit extensions

template <typename... Parts>
[[noreturn]] void damaged(const std::string& file, std::int64_t at, const Parts&... why) {
  base::throw_system_error(EIO, "cannot open ", file, " as a zip file: at byte ", at, " ", why...,
                           "; copy or download the file again");
}

std::vector<std::byte> bytes_at(store::Store& store, std::int64_t begin, std::int64_t length) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(length));
  store.read({{begin, bytes.data(), length}});
  return bytes;
}

/// The location of the directory.
struct Extent {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  std::int64_t end = 0;  ///< offset of its end record
};

/// Reads the 64-bit extensions before the end record at `end`; returns nothing if there are none.
std::optional<Extent> find_wide(store::Store& store, std::int64_t end, const std::string& file) {
  const std::int64_t at = end - kLocatorBytes;
  if (at < 0) return std::nullopt;
  const std::vector<std::byte> locator = bytes_at(store, at, kLocatorBytes);
  Fields fields(locator);
  if (fields.take<std::uint32_t>() != kLocatorSignature) return std::nullopt;
  fields.skip(4);
  const auto begin = static_cast<std::int64_t>(fields.take<std::uint64_t>());
  if (begin < 0 || begin > at - kEnd64Bytes)
    damaged(file, at, "the end of the directory is said to lie at byte ", begin);
  const std::vector<std::byte> wide = bytes_at(store, begin, kEnd64Bytes);
  Fields whole(wide);
  if (whole.take<std::uint32_t>() != kEnd64Signature) damaged(file, begin, "there is no end of a directory");
  whole.skip(28);
  const auto count = whole.take<std::uint64_t>();
  const auto bytes = whole.take<std::uint64_t>();
  const auto first = whole.take<std::uint64_t>();
  if (std::max({count, bytes, first}) > static_cast<std::uint64_t>(begin))
    damaged(file, begin, "the directory is said to lie outside of the file");
  return Extent{static_cast<std::int64_t>(first), static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(count),
                begin};
}

Extent find_directory(store::Store& store, const std::string& file) {
  const std::int64_t size = store.size();
  const std::int64_t length = std::min(size, kEndBytes + kMaxComment);
  const std::vector<std::byte> tail = bytes_at(store, size - length, length);
  std::int64_t at = length - kEndBytes;
  for (; at >= 0; --at) {
    Fields fields{std::span(tail).subspan(static_cast<std::size_t>(at))};
    if (fields.take<std::uint32_t>() != kEndSignature) continue;
    fields.skip(16);
    if (at + kEndBytes + fields.take<std::uint16_t>() == length) break;
  }
  if (at < 0) damaged(file, size, "it ends without a directory of its arrays");
  Fields end{std::span(tail).subspan(static_cast<std::size_t>(at) + 4)};
  Extent where;
  where.end = size - length + at;
  const auto disk = end.take<std::uint16_t>();
  const auto first_disk = end.take<std::uint16_t>();
  end.skip(2);
  where.count = end.take<std::uint16_t>();
  where.bytes = end.take<std::uint32_t>();
  where.begin = end.take<std::uint32_t>();
  const bool see64 = where.count == kSee64Short || where.bytes == kSee64 || where.begin == kSee64;
  const std::optional<Extent> wide = see64 ? find_wide(store, where.end, file) : std::nullopt;
  if (wide) {
    where = *wide;
  } else if (disk != 0 || first_disk != 0) {
    damaged(file, where.end, "the archive is said to be in several parts, which Plait does not read");
  }
  if (where.begin > where.end || where.bytes > where.end - where.begin)
    damaged(file, where.end, "the directory is said to have ", where.bytes, " bytes from byte ", where.begin, " on");
  if (where.bytes > kMaxDirectory)
    damaged(file, where.end, "the directory is said to have ", where.bytes, " bytes, and Plait reads ", kMaxDirectory);
  if (where.count > where.bytes / kEntryBytes)
    damaged(file, where.end, "the directory is said to have ", where.count, " entries in ", where.bytes, " bytes");
  return where;
}

/// Reads the numbers that do not fit in their fields from the 64-bit extension. wide: for the sizes of the content and
/// in the archive, and the offset of the header, true if the number is in the extension.
void widen(Entry& entry, std::span<const std::byte> extra, bool (&wide)[3]) {
  Fields fields(extra);
  while (fields.left() >= 4) {
    const auto id = fields.take<std::uint16_t>();
    const auto length = fields.take<std::uint16_t>();
    if (length > fields.left()) return;
    Fields inside(fields.bytes(length));
    if (id != kExtra64) continue;
    std::int64_t* const numbers[] = {&entry.content_bytes, &entry.compressed_bytes, &entry.header};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!wide[i] || inside.left() < 8) continue;
      *numbers[i] = static_cast<std::int64_t>(inside.take<std::uint64_t>());  // check_apart() rejects negative numbers
      wide[i] = false;
    }
  }
}

/// Removes all entries of a name but the last one.  errors  kSystem: there are several, and `equal` is kReject.
void remove_equal(std::vector<Entry>& entries, const Extent& where, const std::string& file, EqualNames equal) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const std::string& { return entries[i].name; });
  std::vector<bool> replaced(entries.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (entries[order[i]].name != entries[order[i - 1]].name) continue;
    if (equal == EqualNames::kReject)
      damaged(file, where.begin, "the directory has two entries of the name \"", entries[order[i]].name, '"');
    replaced[order[i - 1]] = true;
  }
  std::erase_if(entries,
                [&](const Entry& entry) { return replaced[static_cast<std::size_t>(&entry - entries.data())]; });
}

/// Checks that entries do not overlap, and sets their limits.
void check_apart(std::vector<Entry>& entries, const Extent& where, const std::string& file) {
  std::vector<Entry*> order;
  order.reserve(entries.size());
  for (Entry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, &Entry::header);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t end = i + 1 < order.size() ? order[i + 1]->header : where.begin;
    Entry& entry = *order[i];
    entry.limit = end;
    const std::int64_t header_bytes = kLocalBytes + static_cast<std::int64_t>(entry.name.size());
    if (entry.header < 0 || entry.compressed_bytes < 0 || entry.content_bytes < 0 || entry.header > end ||
        header_bytes > end - entry.header || entry.compressed_bytes > end - entry.header - header_bytes)
      damaged(file, where.begin, "the directory says that \"", entry.name, "\" has ", entry.compressed_bytes,
              " bytes after byte ", entry.header, ", more than there are before byte ", end);
  }
}

}  // namespace

std::vector<Entry> read_directory(store::Store& store, const std::string& file, EqualNames equal) {
  const Extent where = find_directory(store, file);
  const std::vector<std::byte> bytes = bytes_at(store, where.begin, where.bytes);
  Fields fields(bytes);
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(where.count));
  for (std::int64_t i = 0; i < where.count; ++i) {
    const std::int64_t at = where.begin + where.bytes - static_cast<std::int64_t>(fields.left());
    if (fields.left() < kEntryBytes || fields.take<std::uint32_t>() != kEntrySignature)
      damaged(file, at, "there is no entry of the directory, which is said to have ", where.count);
    fields.skip(4);
    Entry entry;
    entry.flags = fields.take<std::uint16_t>();
    entry.method = fields.take<std::uint16_t>();
    fields.skip(4);
    entry.check_sum = fields.take<std::uint32_t>();
    entry.compressed_bytes = fields.take<std::uint32_t>();
    entry.content_bytes = fields.take<std::uint32_t>();
    const auto name = fields.take<std::uint16_t>();
    const auto extra = fields.take<std::uint16_t>();
    const auto comment = fields.take<std::uint16_t>();
    fields.skip(8);
    entry.header = fields.take<std::uint32_t>();
    if (std::size_t{name} + extra + comment > fields.left())
      damaged(file, at, "an entry of the directory ends behind it");
    const auto letters = fields.bytes(name);
    entry.name.assign(reinterpret_cast<const char*>(letters.data()), letters.size());
    bool wide[3] = {entry.content_bytes == kSee64, entry.compressed_bytes == kSee64, entry.header == kSee64};
    widen(entry, fields.bytes(extra), wide);
    fields.skip(comment);
    entries.push_back(std::move(entry));
  }
  check_apart(entries, where, file);
  remove_equal(entries, where, file, equal);
  return entries;
}

std::int64_t data_begin(store::Store& store, const Entry& entry, const std::string& file) {
  return data_begin(bytes_at(store, entry.header, kLocalBytes), entry, file);
}

std::int64_t data_begin(std::span<const std::byte> header, const Entry& entry, const std::string& file) {
  Fields fields(header);
  if (fields.take<std::uint32_t>() != kLocalSignature)
    damaged(file, entry.header, "there is no header of \"", entry.name, '"');
  fields.skip(22);
  const std::int64_t name = fields.take<std::uint16_t>();
  const std::int64_t extra = fields.take<std::uint16_t>();
  const std::int64_t begin = entry.header + kLocalBytes + name + extra;
  // Check again: check_apart() assumed a local header with the name in the directory and no extra fields.
  if (entry.compressed_bytes > entry.limit - begin)
    damaged(file, begin, "\"", entry.name, "\" should have ", entry.compressed_bytes,
            " bytes, but the next entry begins at byte ", entry.limit);
  return begin;
}

namespace {

bool is_wide(std::int64_t number) { return number >= static_cast<std::int64_t>(kSee64); }
std::uint32_t narrow(std::int64_t number) { return is_wide(number) ? kSee64 : static_cast<std::uint32_t>(number); }

std::uint16_t entry_flags(const Entry& entry) {
  return std::ranges::all_of(entry.name, [](char c) { return static_cast<unsigned char>(c) < 0x80; }) ? 0 : kUtf8;
}

/// Writes the fields that local headers and the directory share.
void put_common(Writer& out, const Entry& entry) {
  out.put(kVersion).put(entry_flags(entry)).put(entry.method).put(kDate).put(entry.check_sum);
  out.put(narrow(entry.compressed_bytes))
      .put(narrow(entry.content_bytes))
      .put(static_cast<std::uint16_t>(entry.name.size()));
}

}  // namespace

std::int64_t local_header_bytes(const Entry& entry) {
  return kLocalBytes + static_cast<std::int64_t>(entry.name.size()) + (is_wide(entry.content_bytes) ? 20 : 0);
}

std::vector<std::byte> local_header(const Entry& entry, std::int64_t begin) {
  const std::int64_t blanks = begin - entry.header - local_header_bytes(entry);
  Writer out;
  out.put(kLocalSignature);
  put_common(out, entry);
  out.put(static_cast<std::uint16_t>(blanks + (is_wide(entry.content_bytes) ? 20 : 0))).put(entry.name);
  if (is_wide(entry.content_bytes))
    out.put(kExtra64)
        .put(std::uint16_t{16})
        .put(std::uint64_t(entry.content_bytes))
        .put(std::uint64_t(entry.compressed_bytes));
  if (blanks > 0) {
    out.put(kExtraAlignment).put(static_cast<std::uint16_t>(blanks - 4)).put(std::uint16_t{64});
    out.put(std::string(static_cast<std::size_t>(blanks - 6), '\0'));
  }
  return out.take();
}

std::vector<std::byte> directory(const std::vector<Entry>& entries, std::int64_t begin) {
  Writer out;
  for (const Entry& entry : entries) {
    Writer extra;
    if (is_wide(entry.content_bytes))
      extra.put(std::uint64_t(entry.content_bytes)).put(std::uint64_t(entry.compressed_bytes));
    if (is_wide(entry.header)) extra.put(std::uint64_t(entry.header));
    const std::vector<std::byte> numbers = extra.take();
    out.put(kEntrySignature).put(kVersion);
    put_common(out, entry);
    out.put(static_cast<std::uint16_t>(numbers.empty() ? 0 : numbers.size() + 4));
    out.put(std::string(10, '\0')).put(narrow(entry.header)).put(entry.name);
    if (numbers.empty()) continue;
    out.put(kExtra64).put(static_cast<std::uint16_t>(numbers.size())).put(numbers);
  }
  const std::int64_t bytes = out.size();
  const auto count = static_cast<std::int64_t>(entries.size());
  if (is_wide(begin) || is_wide(bytes) || count >= kSee64Short) {
    const std::uint64_t end = std::uint64_t(begin) + std::uint64_t(bytes);
    out.put(kEnd64Signature).put(std::uint64_t{kEnd64Bytes - 12}).put(kVersion).put(kVersion);
    out.put(std::uint64_t{0}).put(std::uint64_t(count)).put(std::uint64_t(count));
    out.put(std::uint64_t(bytes)).put(std::uint64_t(begin));
    out.put(kLocatorSignature).put(std::uint32_t{0}).put(end).put(std::uint32_t{1});
  }
  const auto short_count = static_cast<std::uint16_t>(std::min<std::int64_t>(count, kSee64Short));
  out.put(kEndSignature).put(std::uint32_t{0}).put(short_count).put(short_count);
  out.put(narrow(bytes)).put(narrow(begin)).put(std::uint16_t{0});
  return out.take();
}

}  // namespace plait::store::zip
