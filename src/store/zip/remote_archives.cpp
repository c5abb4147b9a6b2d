// Zip files in object stores.
//
// The end of the object is read first: it contains the end record, and the directory if that is small. All later
// requests have the condition that the object is still the same (object_ranges.hpp).
// Example: a zip file of 10 GB with 10,000 chunks has a directory of 600 KB. One request reads the last 128 KiB, a
// second one the directory.
//
// Opening an array examines its location several times. The archives that were opened last therefore stay open until
// others replace them. Opening a file validates its archive: one request compares the ETag. Lookups within the next
// five seconds send no further request. An open array holds its own reference to its archive, to which this limit does
// not apply.

#include "store/zip/remote_archives.hpp"

#include <cerrno>
#include <chrono>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/process.hpp"
#include "plait/error.hpp"
#include "store/objects/open_objects.hpp"
#include "store/objects/web/web_objects.hpp"

namespace plait::store::zip {

namespace {

using Clock = std::chrono::steady_clock;

/// Time after a comparison of the ETag for which Validation::kRecent does not compare it again.
constexpr std::chrono::seconds kMaxRecentAge{5};
constexpr std::size_t kMaxArchives = 4;
constexpr std::string_view kSuffix = ".zip";

struct OpenArchive {
  std::shared_ptr<Archive> archive;
  Clock::time_point validated;
};

/// The archives that were opened last, the latest one first.
struct OpenArchives {
  std::mutex mutex;
  std::list<OpenArchive> archives;
};

OpenArchives& open_archives() {
  static base::PerProcess<OpenArchives> open;
  return open.get();
}

/// Returns the recorded archive of a URL; an empty one if there is none.
OpenArchive find_open(const std::string& url) {
  OpenArchives& open = open_archives();
  const std::scoped_lock lock(open.mutex);
  for (const OpenArchive& candidate : open.archives)
    if (candidate.archive->name() == url) return candidate;
  return {};
}

/// Records that an archive has been validated. archive: nullptr if the URL has no archive; a recorded one is removed.
void record_validated(const std::string& url, const std::shared_ptr<Archive>& archive, Clock::time_point validated) {
  OpenArchives& open = open_archives();
  const std::scoped_lock lock(open.mutex);
  open.archives.remove_if([&](const OpenArchive& other) { return other.archive->name() == url; });
  if (archive) open.archives.push_front({archive, validated});
  if (open.archives.size() > kMaxArchives) open.archives.pop_back();
}

/// Returns true if an object is still the one that was opened; false if it has changed, or if its identity cannot be
/// compared.
bool is_current(const ObjectRanges& object) {
  if (!web::is_strong(object.identity())) return false;
  const std::string& url = object.name();
  const std::size_t slash = url.rfind('/');
  const std::shared_ptr<ObjectStore> objects = store::open_objects(url.substr(0, slash), Sharing::kShared);
  std::byte first{};
  // Send a GET rather than a HEAD, which the signature of a signed URL may not permit.
  const GetResult result =
      objects->get(url.substr(slash + 1), {{0, &first, 1}}, {.identity = true, .if_none_match = &object.identity()});
  return result.status == GetStatus::kMatch && result.identity.numbers == object.identity().numbers;
}

/// Returns true if an object begins like a zip file.
bool begins_as_archive(ObjectRanges& object) {
  constexpr std::int64_t kSignatureBytes = 4;
  if (object.size() < kSignatureBytes) return false;
  std::string head(kSignatureBytes, '\0');
  object.read({{0, reinterpret_cast<std::byte*>(head.data()), kSignatureBytes}});
  return head == "PK\x03\x04" || head == "PK\x05\x06";
}

/// The position of an archive's name in a URL.
enum class Position : std::uint8_t { kEnd, kInside };

/// Opens an object. Returns nullptr if there is none, or if it is not a zip file.
std::shared_ptr<Archive> open_archive(const std::string& url, Position position) {
  std::unique_ptr<ObjectRanges> object;
  try {
    object = std::make_unique<ObjectRanges>(url, std::string_view(), FirstRead::kEnd);
  } catch (const Error& error) {
    // The name may be a folder. A user may be permitted to read keys below it but not the name itself, and an HTTP
    // server may answer with a listing of the folder, for which it does not support ranges.
    const int code = error.system_code();
    const bool is_folder = position == Position::kInside && (code == EACCES || code == ENOTSUP);
    if (code != ENOENT && !is_folder) throw;
    return nullptr;
  }
  std::shared_ptr<const std::vector<Entry>> entries;
  try {
    entries = read_sorted_entries(*object);
  } catch (const Error& error) {
    if (error.system_code() != EIO || begins_as_archive(*object)) throw;
    return nullptr;
  }
  return std::make_shared<Archive>(std::move(object), std::move(entries));
}

/// Returns the open archive of a URL if it is valid; otherwise opens it again.
std::shared_ptr<Archive> find_archive(const std::string& url, Position position, Validation validation) {
  const OpenArchive open = find_open(url);
  const Clock::time_point now = Clock::now();
  if (open.archive) {
    if (validation == Validation::kRecent && now - open.validated < kMaxRecentAge) return open.archive;
    if (is_current(*open.archive->object())) {
      record_validated(url, open.archive, now);
      return open.archive;
    }
  }
  std::shared_ptr<Archive> archive = open_archive(url, position);
  record_validated(url, archive, now);
  return archive;
}

/// The directory and the identity of an archive.
struct EncodedArchive {
  std::string url;
  std::string details;
  std::vector<Entry> entries;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, EncodedArchive>& archive) {
  codec(archive.url, archive.details, archive.entries);
}

}  // namespace

std::shared_ptr<Archive> find_remote(const std::string& url, Validation validation) {
  const std::size_t key = url.find('/', url.find("://") + 3);
  for (std::size_t suffix = url.find(kSuffix, key); suffix != std::string::npos;
       suffix = url.find(kSuffix, suffix + 1)) {
    const std::size_t end = suffix + kSuffix.size();
    if (end < url.size() && url[end] != '/') continue;
    const Position position = end < url.size() ? Position::kInside : Position::kEnd;
    if (std::shared_ptr<Archive> archive = find_archive(url.substr(0, end), position, validation)) return archive;
  }
  return nullptr;
}

std::string encode_remote(const Archive& archive) {
  return base::encode(EncodedArchive{archive.name(), archive.object()->details(), archive.entries()});
}

std::shared_ptr<Archive> adopt_remote(std::string_view encoded) {
  auto decoded = base::decode<EncodedArchive>(std::string(encoded), base::kAnotherRank);
  auto object = std::make_unique<ObjectRanges>(decoded.url, decoded.details);
  const OpenArchive open = find_open(decoded.url);
  if (open.archive && open.archive->object()->details() == decoded.details) return open.archive;
  auto archive =
      std::make_shared<Archive>(std::move(object), std::make_shared<std::vector<Entry>>(std::move(decoded.entries)));
  const Clock::time_point now = Clock::now();
  if (!open.archive || now - open.validated >= kMaxRecentAge) record_validated(decoded.url, archive, now);
  return archive;
}

}  // namespace plait::store::zip
