#include "store/zip/zip_objects.hpp"

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

namespace plait::store::zip {

namespace {

using base::text;

/// Maximum size of a deflated entry, which is in memory as a whole.
constexpr std::int64_t kMaxInflated = std::int64_t{2} << 30;
/// Maximum ratio of deflate: a block of 258 bytes takes 2 bits.
constexpr std::int64_t kMaxRatio = 1032;

void check_sum(const Entry& entry, std::span<const std::byte> content, const std::string& what) {
  uLong sum = crc32(0, nullptr, 0);
  for (std::size_t at = 0; at < content.size();) {
    const auto part = static_cast<uInt>(std::min<std::size_t>(content.size() - at, std::size_t{1} << 30));
    sum = crc32(sum, reinterpret_cast<const Bytef*>(content.data()) + at, part);
    at += part;
  }
  if (sum != entry.check_sum)
    base::throw_system_error(EIO, "cannot read ", what, ": it is damaged, because its bytes have another check sum ",
                             "(CRC-32) than the directory; copy or download the file again");
}

using Entries = std::vector<Entry>;

/// The directory that was read last. Opening an array examines several locations in its file.
struct LastDirectory {
  std::mutex mutex;
  std::string path;  ///< absolute
  Identity identity{};
  std::shared_ptr<const Entries> entries;
};

/// Returns true if a file may change again within the resolution of its times, and still have this identity.
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
  auto entries = std::make_shared<Entries>(read_directory(file, path, EqualNames::kLast));
  std::ranges::sort(*entries, {}, &Entry::name);
  if (may_change_unnoticed) return entries;
  const std::scoped_lock lock(last.mutex);
  last.path = absolute;
  last.identity = identity;
  last.entries = entries;
  return entries;
}

class ZipObjects : public ObjectStore {
 public:
  ZipObjects(const std::string& location, std::shared_ptr<Archive> archive)
      : ObjectStore(location), archive_(std::move(archive)) {
    std::string_view inside = std::string_view(location).substr(archive_->name().size());
    while (inside.starts_with('/')) inside.remove_prefix(1);
    while (inside.ends_with('/')) inside.remove_suffix(1);
    if (!inside.empty()) prefix_ = text(inside, '/');
  }

  using ObjectStore::get;
  using ObjectStore::put;

  GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) override {
    GetResult result;
    const Entry* const entry = examine(object, options, result);
    if (entry == nullptr) return result;
    result.status = GetStatus::kOutside;
    if (!resolve_offsets(ranges, result.bytes)) return result;
    if (!ranges.empty()) archive_->read(*entry, std::move(ranges));
    result.status = GetStatus::kRead;
    return result;
  }

  GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                      const GetOptions& options) override {
    GetResult result;
    const Entry* const entry = examine(object, options, result);
    if (entry == nullptr) return result;
    archive_->check(*entry);
    const std::span<std::byte> bytes = memory(result.bytes);
    archive_->read(*entry, {{0, bytes.data(), result.bytes}});
    if (entry->method == kStored) check_sum(*entry, bytes, object_location(object));
    result.status = GetStatus::kRead;
    return result;
  }

  ObjectIdentity identity(const std::string& object) override {
    const Entry* const entry = archive_->find(prefix_ + object);
    return entry != nullptr ? archive_->identity(*entry) : ObjectIdentity{};
  }
  bool contains(const std::string& object) override { return archive_->find(prefix_ + object) != nullptr; }

  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override {
    const std::string begin = prefix_ + prefix;
    const std::vector<Entry>& entries = archive_->entries();
    for (auto at = std::ranges::lower_bound(entries, begin, {}, &Entry::name);
         at != entries.end() && at->name.starts_with(begin);) {
      const std::string name = at->name.substr(begin.size());
      const std::size_t slash = depth == ListDepth::kChildren ? name.find('/') : std::string::npos;
      if (slash == std::string::npos) {
        if (!name.empty() && !name.ends_with('/')) visit({name, at->unpacked});
        ++at;
        continue;
      }
      visit({name.substr(0, slash + 1), 0});
      // Skip all entries below: `0` is the character after `/`.
      at = std::lower_bound(at, entries.end(), begin + name.substr(0, slash) + '0',
                            [](const Entry& entry, const std::string& end) { return entry.name < end; });
    }
  }

  bool put(const std::string& object, std::span<const std::byte> /*bytes*/, const Condition& /*condition*/) override {
    reject(object);
  }
  std::unique_ptr<NewObject> create(const std::string& object) override { reject(object); }
  void write(const std::string& object, std::vector<WriteSegment> /*segments*/) override { reject(object); }
  void remove(const std::string& object) override { reject(object); }
  void check() override { reject({}); }

 private:
  [[noreturn]] void reject(const std::string& object) const {
    base::throw_system_error(EROFS, "cannot write ", object.empty() ? name() : object_location(object),
                             ": it is in the ", "zip file ", archive_->name(),
                             ", which Plait only reads; copy it to a folder first");
  }

  /// Sets size and identity in `result`. If a condition is not met, or there is no such object, it returns nullptr.
  const Entry* examine(const std::string& object, const GetOptions& options, GetResult& result) const {
    const Entry* const entry = archive_->find(prefix_ + object);
    if (entry == nullptr) return nullptr;
    result.bytes = entry->unpacked;
    result.identity = archive_->identity(*entry);
    return meets(options, result) ? entry : nullptr;
  }

  std::shared_ptr<Archive> archive_;
  std::string prefix_;
};

}  // namespace

Archive::Archive(const std::string& path)
    : file_(path, posix::PosixStore::Access::kRead),
      identity_(file_.identity()),
      entries_(read_entries(file_, identity_, path)),
      begins_(entries_->size()) {}

const Entry* Archive::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(entries(), name, {}, &Entry::name);
  return at != entries().end() && at->name == name ? &*at : nullptr;
}

ObjectIdentity Archive::identity(const Entry& entry) const {
  return {{static_cast<std::int64_t>(identity_.number), identity_.born, entry.header, identity_.changed}, {}};
}

void Archive::check(const Entry& entry) const {
  const std::string what = text(name(), '/', entry.name);
  if (entry.encrypted() || (entry.method != kStored && entry.method != kDeflated))
    base::throw_argument_error(
        what, ": the zip file has it ",
        entry.encrypted() ? std::string("encrypted") : text("compressed by method ", entry.method),
        "; expected a stored or deflated entry; unpack it, and open the folder");
  if (entry.method == kStored && entry.packed != entry.unpacked)
    base::throw_system_error(EIO, "cannot read ", what, ": it is stored in ", entry.packed, " bytes, but should have ",
                             entry.unpacked, "; copy or download the file again");
  if (entry.method == kDeflated && (entry.unpacked > kMaxInflated || entry.unpacked / kMaxRatio > entry.packed))
    base::throw_system_error(EIO, "cannot read ", what, ": the directory says that ", entry.packed, " deflated bytes ",
                             "are ", entry.unpacked, "; expected at most ", kMaxInflated, " and ", kMaxRatio,
                             " times as many; copy or download the file again");
}

std::int64_t Archive::find_begin(const Entry& entry) {
  // Threads that read the header at the same time store the same number.
  std::atomic<std::int64_t>& known = begins_[static_cast<std::size_t>(&entry - entries().data())];
  if (known.load(std::memory_order_relaxed) == 0)
    known.store(data_begin(file_, entry, name()), std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed);
}

void Archive::read(const Entry& entry, std::vector<ReadSegment> ranges) {
  check(entry);
  const std::int64_t begin = find_begin(entry);
  if (entry.method == kStored) {
    for (ReadSegment& range : ranges) range.offset += begin;
    return file_.read(std::move(ranges));
  }
  if (ranges.size() == 1 && ranges[0].offset == 0 && ranges[0].bytes == entry.unpacked)
    return inflate(entry, begin, {ranges[0].data, static_cast<std::size_t>(entry.unpacked)});
  std::vector<std::byte> content(static_cast<std::size_t>(std::min(entry.unpacked, kMaxInflated)));
  inflate(entry, begin, content);
  for (const ReadSegment& range : ranges)
    std::memcpy(range.data, content.data() + range.offset, static_cast<std::size_t>(range.bytes));
}

void Archive::inflate(const Entry& entry, std::int64_t begin, std::span<std::byte> content) {
  const std::string what = text(name(), '/', entry.name);
  std::vector<std::byte> packed(static_cast<std::size_t>(entry.packed));
  file_.read({{begin, packed.data(), entry.packed}});
  if (codec::inflate_raw(packed, content, what) != content.size())
    base::throw_system_error(EIO, "cannot read ", what, ": it has less than the ", entry.unpacked,
                             " bytes that the directory states; copy or download the file again");
  check_sum(entry, content, what);
}

bool is_archive(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  const posix::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4> head{};
  if (file.number() < 0 || ::pread(file.number(), head.data(), head.size(), 0) != std::ssize(head)) return false;
  const std::string_view begin(head.data(), head.size());
  return begin == "PK\x03\x04" || begin == "PK\x05\x06";
}

std::string archive_path(const std::string& location) {
  struct stat found{};
  std::filesystem::path path(location);
  while (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOTDIR || !path.has_relative_path()) return {};
    path = path.parent_path();
  }
  return is_archive(path.string()) ? path.string() : std::string();
}

std::shared_ptr<ObjectStore> open_objects(const std::string& location, const std::string& archive) {
  return std::make_shared<ZipObjects>(location, std::make_shared<Archive>(archive));
}

}  // namespace plait::store::zip
