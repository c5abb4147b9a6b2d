#include "container/hdf5/writing/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/refuse.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr unsigned kTruncate = 2;        // H5F_ACC_TRUNC
constexpr int kEarliest = 0;             // H5F_LIBVER_EARLIEST
constexpr int kV110 = 2;                 // H5F_LIBVER_V110
constexpr int kUtf8 = 1;                 // H5T_CSET_UTF8
constexpr int kAllotEarly = 1;           // H5D_ALLOC_TIME_EARLY
constexpr int kNeverFill = 1;            // H5D_FILL_TIME_NEVER
constexpr unsigned kOptionalFilter = 1;  // H5Z_FLAG_OPTIONAL
constexpr Size kPage = 4096;
/// What the library takes for a dataset without attributes, and for the links and the heap of a group, is less.
constexpr Size kDatasetRoom = 512;
constexpr Size kGroupRoom = 1536;
constexpr int kAttempts = 6;

/// A file in memory, or beside other temporary ones, of which only what has been written takes room.  Its name goes as
/// soon as the library has it open, which does not take files without one.
class MemoryFile {
 public:
  MemoryFile() {
    const char* const temporary = std::getenv("TMPDIR");
    for (const char* folder : {"/dev/shm", temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary}) {
      path_ = text(folder, "/plait-hdf5-XXXXXX");
      file_ = base::Descriptor(::mkostemp(path_.data(), O_CLOEXEC));
      if (file_.number() >= 0) return;
    }
    failed("make");
  }
  ~MemoryFile() { unlink(); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }
  void unlink() noexcept {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
  }
  std::int64_t size() const {
    struct stat found{};
    if (::fstat(file_.number(), &found) != 0) failed("look at");
    return found.st_size;
  }
  /// Behind what has been written last, up to a page.
  std::int64_t written_end() const {
    std::int64_t end = 0;
    while (true) {
      const off_t data = ::lseek(file_.number(), end, SEEK_DATA);
      if (data < 0) return end;
      end = ::lseek(file_.number(), data, SEEK_HOLE);
    }
  }
  std::vector<std::byte> read(std::int64_t begin, std::int64_t end) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(std::max<std::int64_t>(end - begin, 0)));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t got =
          ::pread(file_.number(), bytes.data() + done, bytes.size() - done, begin + static_cast<std::int64_t>(done));
      if (got <= 0) failed("read");
      done += static_cast<std::size_t>(got);
    }
    return bytes;
  }

 private:
  [[noreturn]] static void failed(const char* what) {
    const int code = errno;
    throw Error(ErrorKind::kSystem, text("cannot ", what, " a temporary file for the header of an HDF5 file"), code);
  }
  std::string path_;
  base::Descriptor file_;
};

[[noreturn]] void failed(const Library& hdf5, const std::string& what) {
  throw Error(ErrorKind::kSystem, text(what, " cannot be made by ", hdf5.words(), hdf5.why()), EIO);
}

void check_name(const std::string& name, const std::string& shown) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..")
      refuse(text(shown, ": \"", part, "\" is no part of the name of a dataset; give a name such as /group/array"));
    begin = end + 1;
  }
}

Handle space_of(const Library& hdf5, const Extents& shape) {
  if (shape.empty()) return {hdf5->H5Screate(0), hdf5->H5Sclose};
  std::vector<Size> extents;
  for (const std::int64_t extent : shape) extents.push_back(static_cast<Size>(extent));
  return {hdf5->H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), hdf5->H5Sclose};
}

Handle list_of(const Library& hdf5, Id kind) { return {hdf5->H5Pcreate(kind), hdf5->H5Pclose}; }

/// How a dataset is kept.
Handle creation_of(const Library& hdf5, const Extents& chunk, const std::vector<Filter>& filters) {
  Handle kept = list_of(hdf5, hdf5->H5P_CLS_DATASET_CREATE_ID_g);
  bool said = hdf5->H5Pset_obj_track_times(kept.id(), false) >= 0;
  if (chunk.empty()) {
    said = said && hdf5->H5Pset_alloc_time(kept.id(), kAllotEarly) >= 0 &&
           hdf5->H5Pset_fill_time(kept.id(), kNeverFill) >= 0;
    return said ? std::move(kept) : Handle();
  }
  std::vector<Size> extents;
  for (const std::int64_t extent : chunk) extents.push_back(static_cast<Size>(extent));
  said = said && hdf5->H5Pset_chunk(kept.id(), static_cast<int>(extents.size()), extents.data()) >= 0;
  // Optional: the library that describes the dataset may not have it.
  for (const Filter& filter : filters)
    said = said && hdf5->H5Pset_filter(kept.id(), static_cast<int>(filter.id), kOptionalFilter, filter.values.size(),
                                       filter.values.data()) >= 0;
  return said ? std::move(kept) : Handle();
}

/// The datasets in a file that keeps all that describes them in its first `room` bytes, if these are enough.
NewFile attempt(const Library& hdf5, const std::vector<Member>& members, const std::vector<Filter>& filters,
                const std::string& path, Size room) {
  MemoryFile memory;
  NewFile made;
  {
    const Handle access = list_of(hdf5, hdf5->H5P_CLS_FILE_ACCESS_ID_g);
    const Handle linked = list_of(hdf5, hdf5->H5P_CLS_LINK_CREATE_ID_g);
    const bool said = hdf5->H5Pset_libver_bounds(access.id(), kEarliest, kV110) >= 0 &&
                      hdf5->H5Pset_meta_block_size(access.id(), room) >= 0 &&
                      hdf5->H5Pset_alignment(access.id(), kPage, kPage) >= 0 &&
                      hdf5->H5Pset_create_intermediate_group(linked.id(), 1) >= 0 &&
                      hdf5->H5Pset_char_encoding(linked.id(), kUtf8) >= 0;
    const Handle file(said ? hdf5->H5Fcreate(memory.path().c_str(), kTruncate, 0, access.id()) : -1, hdf5->H5Fclose);
    if (!file) failed(hdf5, path);
    memory.unlink();
    for (const Member& one : members) {
      const std::string shown = text(path, "::", one.name);
      const ArrayType& array = one.content.type;
      const Handle type = new_type(hdf5, array.dtype);
      if (!type)
        refuse(text(shown, ": HDF5 has no elements of dtype ", array.dtype,
                    "; use numbers, booleans, or bytes of a fixed length"));
      const Handle space = space_of(hdf5, array.shape);
      const Handle kept = creation_of(hdf5, one.content.chunk, filters);
      const Handle dataset(
          hdf5->H5Dcreate2(file.id(), one.name.c_str(), type.id(), space.id(), linked.id(), kept.id(), 0),
          hdf5->H5Dclose);
      if (!space || !kept || !dataset) failed(hdf5, shown);
      const Address offset = hdf5->H5Dget_offset(dataset.id());
      made.offsets.push_back(offset == kNoAddress ? 0 : static_cast<std::int64_t>(offset));
    }
  }
  made.bytes = memory.size();
  std::int64_t end = made.bytes;
  for (const std::int64_t offset : made.offsets)
    if (offset > 0) end = std::min(end, offset);
  // What stands behind the first element says that the room was not enough.
  const std::vector<std::byte> behind = memory.read(end, std::min(memory.written_end(), made.bytes));
  if (std::ranges::all_of(behind, [](std::byte one) { return one == std::byte{0}; })) made.head = memory.read(0, end);
  return made;
}

}  // namespace

NewFile make_file(const std::vector<Member>& members, const std::vector<Filter>& filters, const std::string& path) {
  std::set<std::string_view> groups;
  for (const Member& one : members)
    for (std::size_t at = one.name.find('/'); at != std::string::npos; at = one.name.find('/', at + 1))
      groups.insert(std::string_view(one.name).substr(0, at));
  for (const Member& one : members) {
    const std::string shown = text(path, "::", one.name);
    check_name(one.name, shown);
    if (one.content.type.order != Order::kC)
      refuse(text(shown, ": HDF5 keeps arrays in order C, but order=F was given; leave it out"));
    if (groups.contains(one.name))
      refuse(text(shown, " is to be a dataset, but another one is to lie in a group of that name; rename one of them"));
  }
  const Library hdf5;
  Size room = (groups.size() + 1) * kGroupRoom;
  for (const Member& one : members) room += kDatasetRoom + 2 * one.name.size();
  room = (room + kPage - 1) / kPage * kPage;
  for (int i = 0; i < kAttempts; ++i, room *= 2) {
    NewFile made = attempt(hdf5, members, filters, path, room);
    if (!made.head.empty()) return made;
  }
  failed(hdf5, path);
}

}  // namespace plait::container::hdf5
