// Reading entries of zip files.
//
// Problem: the directory states where the local header of an entry begins, but not how long the header is: it may have
// other extra fields than the directory. Reading each header first would double the number of requests to an object
// store.
//
// Idea: guess that the header is as long as the last one that was read, and read it together with the bytes at the
// guessed offset. If the guess was wrong, the bytes are read again.
//
// Example: the local header of `c/0` begins at byte 100. Without extra fields its content begins at 100 + 30 + 3 = 133.
// A read of 10 bytes of the content reads [100, 130) and [133, 143) at once. If the header states 20 bytes of extra
// fields, [153, 163) is read as well, and the next entry is expected to have 20 bytes of them.

#include "store/zip/archive.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "codec/codecs.hpp"
#include "plait/error.hpp"
#include "store/posix/descriptor.hpp"
#include "store/posix/posix_store.hpp"

namespace plait::store::zip {

namespace {

using base::text;

/// Maximum size of a deflated entry, which is in memory as a whole.
constexpr std::int64_t kMaxInflatedBytes = std::int64_t{2} << 30;
/// Maximum ratio of content to deflated bytes: a repetition of 258 bytes takes at least 2 bits, 258 * 8 / 2.
constexpr std::int64_t kMaxDeflateRatio = 1032;

using Entries = std::vector<Entry>;

/// The directory that was read last. Opening an array examines several locations in its file.
struct LastDirectory {
  std::mutex mutex;
  std::string path;  ///< absolute
  Identity identity{};
  std::shared_ptr<const Entries> entries;
};

/// Returns true if a file has changed so recently that it may change again without getting another identity, because
/// of the resolution of its times.
bool is_just_changed(const Identity& identity) {
  constexpr std::chrono::nanoseconds kResolution = std::chrono::seconds(2);
  const std::chrono::nanoseconds changed(identity.changed);
  return std::chrono::system_clock::now().time_since_epoch() - kResolution < changed;
}

/// Returns the entries of a zip file in the order of their names. Reads them only if the file is not the last one, or
/// has changed.
std::shared_ptr<const Entries> read_entries(posix::PosixStore& file, const Identity& identity,
                                            const std::string& path) {
  static base::PerProcess<LastDirectory> last_directory;
  LastDirectory& last = last_directory.get();
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  {
    const std::scoped_lock lock(last.mutex);
    if (last.entries && last.path == absolute && last.identity == identity) return last.entries;
  }
  const bool may_change_unnoticed = is_just_changed(identity);
  std::shared_ptr<const Entries> entries = read_sorted_entries(file);
  if (may_change_unnoticed) return entries;
  const std::scoped_lock lock(last.mutex);
  last.path = absolute;
  last.identity = identity;
  last.entries = entries;
  return entries;
}

}  // namespace

std::shared_ptr<const std::vector<Entry>> read_sorted_entries(Store& file) {
  auto entries = std::make_shared<Entries>(read_directory(file, file.name(), EqualNames::kLast));
  std::ranges::sort(*entries, {}, &Entry::name);
  return entries;
}

Archive::Archive(const std::string& path) {
  auto file = std::make_unique<posix::PosixStore>(path, posix::PosixStore::Access::kRead);
  const Identity file_identity = file->identity();
  identity_.numbers = {static_cast<std::int64_t>(file_identity.number), file_identity.born, 0, file_identity.changed};
  entries_ = read_entries(*file, file_identity, path);
  data_begins_ = std::vector<std::atomic<std::int64_t>>(entries_->size());
  file_ = std::move(file);
}

Archive::Archive(std::unique_ptr<ObjectRanges> object, std::shared_ptr<const Entries> entries)
    : object_(object.get()),
      identity_(object->identity()),
      entries_(std::move(entries)),
      data_begins_(entries_->size()) {
  file_ = std::move(object);
}

const Entry* Archive::find(std::string_view name) const {
  const auto entry = std::ranges::lower_bound(entries(), name, {}, &Entry::name);
  return entry != entries().end() && entry->name == name ? &*entry : nullptr;
}

ObjectIdentity Archive::identity(const Entry& entry) const {
  ObjectIdentity result = identity_;
  result.numbers[2] = entry.header;  // distinguishes the entries of one file
  return result;
}

void Archive::check_readable(const Entry& entry) const {
  const std::string what = text(name(), '/', entry.name);
  if (entry.encrypted() || (entry.method != kStored && entry.method != kDeflated))
    base::throw_argument_error(
        what, ": the zip file has it ",
        entry.encrypted() ? std::string("encrypted") : text("compressed by method ", entry.method),
        "; expected a stored or deflated entry; unpack it, and open the folder");
  if (entry.method == kStored && entry.compressed_bytes != entry.content_bytes)
    base::throw_system_error(EIO, "cannot read ", what, ": it is stored in ", entry.compressed_bytes,
                             " bytes, but should have ", entry.content_bytes, "; copy or download the file again");
  if (entry.method == kDeflated &&
      (entry.content_bytes > kMaxInflatedBytes || entry.content_bytes / kMaxDeflateRatio > entry.compressed_bytes))
    base::throw_system_error(EIO, "cannot read ", what, ": the directory says that ", entry.compressed_bytes,
                             " deflated bytes ", "are ", entry.content_bytes, "; expected at most ", kMaxInflatedBytes,
                             " and ", kMaxDeflateRatio, " times as many; copy or download the file again");
}

/// Returns the offset of the bytes of an entry, assuming that its local header is as long as the one that was read
/// last.
std::int64_t Archive::guess_data_begin(const Entry& entry) const {
  const std::int64_t shortest = entry.header + kLocalHeaderBytes + std::ssize(entry.name);
  return std::min(shortest + last_extra_bytes_.load(std::memory_order_relaxed), entry.limit - entry.compressed_bytes);
}

void Archive::read_compressed(std::span<CompressedRead> reads) {
  /// A read of an entry whose local header is read together with its bytes.
  struct Guess {
    CompressedRead* read;
    std::int64_t data_begin;
    std::array<std::byte, kLocalHeaderBytes> header;
  };
  std::vector<Guess> guesses;
  guesses.reserve(reads.size());  // segments refer to the headers
  std::vector<ReadSegment> segments;
  const auto add_segments = [&](const CompressedRead& read, std::int64_t begin) {
    for (const ReadSegment& range : read.ranges) segments.push_back({begin + range.offset, range.data, range.bytes});
  };
  for (CompressedRead& read : reads) {
    const std::int64_t known = data_begin(*read.entry).load(std::memory_order_relaxed);
    if (known == 0) {
      Guess& guess = guesses.emplace_back(Guess{&read, guess_data_begin(*read.entry), {}});
      segments.push_back({read.entry->header, guess.header.data(), kLocalHeaderBytes});
    }
    add_segments(read, known == 0 ? guesses.back().data_begin : known);
  }
  file_->read(std::move(segments));
  segments.clear();
  for (const Guess& guess : guesses) {
    // Relaxed order suffices: threads that read the same header store the same number, and no other memory depends on
    // it. `last_extra_bytes_` is only a guess.
    const Entry& entry = *guess.read->entry;
    const std::int64_t begin = find_data_begin(guess.header, entry, name());
    data_begin(entry).store(begin, std::memory_order_relaxed);
    const std::int64_t extra_bytes = begin - entry.header - kLocalHeaderBytes - std::ssize(entry.name);
    last_extra_bytes_.store(extra_bytes, std::memory_order_relaxed);
    if (begin != guess.data_begin) add_segments(*guess.read, begin);
  }
  if (!segments.empty()) file_->read(std::move(segments));
}

void Archive::read(const Entry& entry, std::vector<ReadSegment> ranges) {
  check_readable(entry);
  if (entry.method == kStored) {
    CompressedRead read{&entry, std::move(ranges)};
    return read_compressed({&read, 1});
  }
  std::vector<std::byte> compressed(static_cast<std::size_t>(entry.compressed_bytes));
  CompressedRead read{&entry, {{0, compressed.data(), entry.compressed_bytes}}};
  read_compressed({&read, 1});
  if (ranges.size() == 1 && ranges[0].offset == 0 && ranges[0].bytes == entry.content_bytes)
    return inflate(entry, compressed, {ranges[0].data, static_cast<std::size_t>(entry.content_bytes)});
  std::vector<std::byte> content(static_cast<std::size_t>(std::min(entry.content_bytes, kMaxInflatedBytes)));
  inflate(entry, compressed, content);
  for (const ReadSegment& range : ranges)
    std::memcpy(range.data, content.data() + range.offset, static_cast<std::size_t>(range.bytes));
}

void Archive::inflate(const Entry& entry, std::span<const std::byte> compressed, std::span<std::byte> content) const {
  const std::string what = text(name(), '/', entry.name);
  if (codec::inflate_raw(compressed, content, what) != content.size())
    base::throw_system_error(EIO, "cannot read ", what, ": it has less than the ", entry.content_bytes,
                             " bytes that the directory states; copy or download the file again");
  verify_checksum(entry, content);
}

void Archive::verify_checksum(const Entry& entry, std::span<const std::byte> content) const {
  uLong sum = crc32(0, nullptr, 0);
  constexpr std::size_t kMaxPartBytes = std::size_t{1} << 30;  // zlib counts bytes in 32 bits
  for (std::size_t begin = 0; begin < content.size();) {
    const auto part_bytes = static_cast<uInt>(std::min(content.size() - begin, kMaxPartBytes));
    sum = crc32(sum, reinterpret_cast<const Bytef*>(content.data()) + begin, part_bytes);
    begin += part_bytes;
  }
  if (sum != entry.check_sum)
    base::throw_system_error(EIO, "cannot read ", name(), '/', entry.name,
                             ": it is damaged, because its bytes have another check sum ",
                             "(CRC-32) than the directory; copy or download the file again");
}

bool is_archive(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const posix::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4> head{};
  if (file.number() < 0 || ::pread(file.number(), head.data(), head.size(), 0) != std::ssize(head)) return false;
  // The signature of a local header or, in an archive without entries, of the end record.
  const std::string_view signature(head.data(), head.size());
  return signature == "PK\x03\x04" || signature == "PK\x05\x06";
}

std::string archive_path(const std::string& location) {
  struct stat status{};
  std::filesystem::path path(location);
  while (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOTDIR || !path.has_relative_path()) return {};
    path = path.parent_path();
  }
  return is_archive(path.string()) ? path.string() : std::string();
}

}  // namespace plait::store::zip
