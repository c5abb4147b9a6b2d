// NumPy's archives: zip files of .npy files.
//
// A zip file has a local header before each of its files, and a directory of all files at its end. New archives are not
// compressed, so that the offset of each array follows from the shapes and names alone, and all ranks can write their
// elements at the same time. The zip headers contain a checksum of all bytes of an array. To compute it, one rank reads
// the whole file again in commit().
// Example: a and b of 100 doubles. a.npy has its local header at 0, its .npy header of 128 bytes at 64, and its
// elements at 192..991. b.npy has its local header at 992, its .npy header at 1,088 and its elements at 1,216.

#include "container/npz/npz_format.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/format_registry.hpp"
#include "container/gzip/gzip_store.hpp"
#include "container/members.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/npy_format.hpp"
#include "container/npy/npy_header.hpp"
#include "container/part_store.hpp"
#include "plait/error.hpp"
#include "store/zip/directory.hpp"

namespace plait::container::npz {

namespace {

using base::Rejection;
using base::text;
using gzip::GzipStore;
using store::zip::encode_directory;
using store::zip::encode_local_header;
using store::zip::Entry;
using store::zip::find_data_begin;
using store::zip::kDeflated;
using store::zip::kStored;
using store::zip::local_header_bytes;
using store::zip::read_directory;

constexpr std::string_view kNpySuffix = ".npy";
/// Alignment of the .npy files in a new archive. Their headers have multiples of 64 bytes, so the elements are aligned.
constexpr std::int64_t kAlignment = 64;
/// Number of bytes that are read at a time to compute a checksum.
constexpr std::int64_t kReadBytes = std::int64_t{4} << 20;

/// Returns the reason why an entry cannot be read; empty if it can.
Rejection entry_rejection(const Entry& entry) {
  if (entry.encrypted()) return Rejection("it is encrypted; write the archive without a password");
  if (entry.method != kStored && entry.method != kDeflated)
    return Rejection::because(
        "it is packed by the method ", entry.method,
        " of zip files, and Plait unpacks deflated ones only; write it by numpy.savez or numpy.savez_compressed");
  if (entry.method == kStored && entry.compressed_bytes != entry.content_bytes)
    return Rejection::because("it is stored, but the directory says that ", entry.compressed_bytes, " bytes hold ",
                              entry.content_bytes, "; copy or download the file again");
  return {};
}

/// Returns the arrays of the directory, without the properties that only their .npy headers state.
/// npy_entries: output; the entry of each array.
/// errors  kArgument: the archive holds files, but no .npy file.
std::vector<Member> list_members(const std::vector<Entry>& entries, const std::string& file,
                                 std::vector<const Entry*>& npy_entries) {
  std::vector<Member> members;
  for (const Entry& entry : entries) {
    if (!entry.name.ends_with(kNpySuffix) || entry.name.size() == kNpySuffix.size()) continue;
    Member& member = members.emplace_back();
    const std::string_view name = std::string_view(entry.name).substr(0, entry.name.size() - kNpySuffix.size());
    member.name = npy::is_utf8(name) ? std::string(name) : npy::latin1_to_utf8(name);
    member.stored = entry.compressed_bytes;
    member.storage = entry.method == kStored     ? "stored"
                     : entry.method == kDeflated ? "deflated"
                                                 : "an unsupported codec";
    member.rejection = entry_rejection(entry);
    npy_entries.push_back(&entry);
  }
  if (members.empty() && !entries.empty())
    base::throw_argument_error(
        file, " is a zip file that holds ", entries.size(), entries.size() == 1 ? " file" : " files",
        " and no .npy file, in which archives of NumPy have their arrays; unpack it with a program for ", "zip files");
  return members;
}

/// Returns a store of the bytes of an entry as they are stored in the archive, possibly deflated.
std::shared_ptr<PartStore> make_part(std::shared_ptr<store::Store> store, const Entry& entry, const std::string& file,
                                     const std::string& name) {
  const std::int64_t begin = find_data_begin(*store, entry, file);
  return std::make_shared<PartStore>(std::move(store), Rows{begin, entry.compressed_bytes, entry.compressed_bytes, 1},
                                     name);
}

/// Lists all arrays of an archive. An array whose header cannot be read is listed with the reason.
std::vector<Member> list_arrays(store::Store& store, const std::string& file) {
  const std::vector<Entry> entries = read_directory(store, file);
  std::vector<const Entry*> npy_entries;
  std::vector<Member> members = list_members(entries, file, npy_entries);
  // The pointer does not own the store, which belongs to the caller.
  const std::shared_ptr<store::Store> whole(std::shared_ptr<store::Store>(), &store);
  for (std::size_t i = 0; i < members.size(); ++i) {
    Member& member = members[i];
    const Entry& entry = *npy_entries[i];
    if (member.rejection) continue;
    const std::string name = text(file, "::", member.name);
    const std::shared_ptr<PartStore> part = make_part(whole, entry, file, name);
    try {
      std::vector<std::byte> head(
          static_cast<std::size_t>(std::min<std::int64_t>(entry.content_bytes, npy::kPreambleBytes)));
      const auto read_head = [&] {  // reads as many bytes as `head` has
        const auto bytes = static_cast<std::int64_t>(head.size());
        if (entry.method == kStored) return part->read({{0, head.data(), bytes}});
        gzip::RestartPoint start;
        start.is_inside_member = true;
        gzip::Inflater(*part, entry.compressed_bytes, start, gzip::Framing::kNone).read_whole(head.data(), bytes);
      };
      read_head();
      const std::int64_t length = npy::header_bytes(head, name);
      if (length > entry.content_bytes)
        base::throw_system_error(0, name, ": its header has ", length, " bytes, but it has ", entry.content_bytes,
                                 " in all; copy or download the file again");
      head.resize(static_cast<std::size_t>(length));
      read_head();
      const npy::Header header = npy::parse_header(head, name);
      member.type = {header.shape, header.descr, header.element_bytes, header.order};
      member.data_offset = header.data_offset;
      if (entry.method == kStored) member.data_offset += part->rows().begin;
      member.element = header.descr;
    } catch (const Error& error) {  // other arrays can still be read
      member.rejection = Rejection(error.what());
    }
  }
  return members;
}

/// The .npy file of an entry.
struct OpenedEntry {
  Rows rows;                              ///< location of the entry in the archive
  std::shared_ptr<store::Store> content;  ///< the .npy file
  const gzip::Index* index = nullptr;     ///< index of the content, if the entry is deflated
};

OpenedEntry make_opened_entry(std::shared_ptr<PartStore> part) {
  const Rows rows = part->rows();
  return {rows, std::move(part)};
}

OpenedEntry make_opened_entry(std::shared_ptr<PartStore> part, gzip::Index index) {
  const Rows rows = part->rows();
  const auto content = std::make_shared<GzipStore>(std::move(part), std::move(index));
  return {rows, content, &content->index()};
}

class NpzDataset : public Dataset {
 public:
  NpzDataset(Content content, const OpenedEntry& entry)
      : Dataset(std::move(content), entry.content), rows_(entry.rows), index_(entry.index) {}
  std::string encoded() const override {
    return base::encode(rows_, index_ == nullptr ? std::string() : index_->to_text());
  }

 private:
  Rows rows_;
  const gzip::Index* index_;  ///< owned by the store
};

class NpzFile : public OpenedFile, public FileChanges {
 public:
  NpzFile(std::shared_ptr<store::Store> store, std::string name)
      : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}

  std::vector<Member> arrays() override { return select_members(list_arrays(*store_, file_), name_); }
  FileChanges* changes() override { return this; }
  void check() const override {
    base::throw_argument_error(
        name_,
        ": arrays of .npz files are not changed in place, because the file has check sums of them; "
        "copy the array to a .npy file, or write a new file");
  }
  std::unique_ptr<Dataset> dataset(const FileOptions& stated) override {
    const OpenedEntry entry = open_entry();
    const std::unique_ptr<OpenedFile> npy = npy::format().open(entry.content, name_);
    return std::make_unique<NpzDataset>(npy->dataset(stated)->content(), entry);
  }

 private:
  OpenedEntry open_entry() const {
    const std::vector<Entry> entries = read_directory(*store_, file_);
    std::vector<const Entry*> npy_entries;
    const std::vector<Member> members = list_members(entries, file_, npy_entries);
    const Entry& entry = *npy_entries[static_cast<std::size_t>(&find_member(members, name_) - members.data())];
    std::shared_ptr<PartStore> part = make_part(store_, entry, file_, name_);
    if (entry.method == kStored) return make_opened_entry(std::move(part));
    gzip::Index index = gzip::make_index(*part, {entry.content_bytes, entry.check_sum});
    return make_opened_entry(std::move(part), std::move(index));
  }

  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

/// Makes the entry of a new array, without its checksum, which is not known yet. header: the offset of its local
/// header.
/// bytes: size of its .npy file.
Entry make_entry(const Member& member, std::int64_t header, std::int64_t bytes) {
  Entry entry;
  entry.name = text(member.name, kNpySuffix);
  entry.method = kStored;
  entry.compressed_bytes = entry.content_bytes = bytes;
  entry.header = header;
  return entry;
}

/// Returns the offset of the .npy file of an entry: a multiple of 64. The padding of the local header before it is an
/// extra field of the zip format, which needs 8 bytes at least, or is absent.
/// Example: a local header of 60 bytes at offset 0 would have 4 bytes of padding up to 64, so that the result is 128.
std::int64_t npy_begin(const Entry& entry) {
  const std::int64_t header_end = entry.header + local_header_bytes(entry);  // without padding
  const std::int64_t begin = base::ceil_divide(header_end, kAlignment) * kAlignment;
  return begin != header_end && begin - header_end < 8 ? begin + kAlignment : begin;
}

/// Writes the local headers of the entries and the directory, with the checksums of the arrays.
void write_directory(store::Store& store, const std::vector<Member>& members) {
  std::vector<std::byte> block;
  std::vector<Entry> entries;
  std::int64_t end = 0;
  for (const Member& member : members) {
    const ArrayType& type = member.type;
    Entry& entry = entries.emplace_back(make_entry(member, end, member.stored));
    const std::int64_t begin = npy_begin(entry);
    end = begin + entry.compressed_bytes;
    const std::vector<std::byte> head = npy::make_header(type.dtype, type.order, type.shape);
    uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(head.data()), head.size());
    for (std::int64_t at = member.data_offset; at < end;) {
      const std::int64_t bytes = std::min(kReadBytes, end - at);
      block.resize(static_cast<std::size_t>(kReadBytes));
      store.read({{at, block.data(), bytes}});
      sum = crc32_z(sum, reinterpret_cast<const Bytef*>(block.data()), static_cast<std::size_t>(bytes));
      at += bytes;
    }
    entry.check_sum = static_cast<std::uint32_t>(sum);
    const std::vector<std::byte> header = encode_local_header(entry, begin);
    store.write({{entry.header, header.data(), static_cast<std::int64_t>(header.size())},
                 {begin, head.data(), static_cast<std::int64_t>(head.size())}});
  }
  const std::vector<std::byte> directory_bytes = encode_directory(entries, end);
  store.write({{end, directory_bytes.data(), static_cast<std::int64_t>(directory_bytes.size())}});
}

/// The arrays of a new archive. Their checksums are computed after all ranks have written.
class NpzNewDataset : public Dataset, public DeferredChanges {
 public:
  NpzNewDataset(const NewContent& content, std::shared_ptr<store::Store> store)
      : Dataset(static_cast<const Content&>(content), std::move(store)), members_(content.members) {}
  DeferredChanges* deferred_changes() override { return this; }
  void commit() override { write_directory(*store(), members_); }

 private:
  std::vector<Member> members_;
};

class NpzNewFile : public NewFile {
 public:
  using NewFile::NewFile;
  std::unique_ptr<Dataset> dataset(std::shared_ptr<store::Store> store) const override {
    return std::make_unique<NpzNewDataset>(content(), std::move(store));
  }
};

class Npz : public Format {
 public:
  Npz() : Format({.name = "npz", .suffix = ".npz", .kind = "a .npz file", .names_arrays = true}) {}
  bool has_signature(std::span<const std::byte> header) const override {
    constexpr std::string_view kSignature = "PK\x03\x04";
    return header.size() >= kSignature.size() &&
           std::equal(kSignature.begin(), kSignature.end(), reinterpret_cast<const char*>(header.data()));
  }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<NpzFile>(std::move(store), name);
  }
  std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store, const std::string& name,
                                  std::string_view encoded) const override {
    Rows rows;
    std::string_view index;
    base::decode(encoded, base::kAnotherRank, rows, index);
    auto part = std::make_shared<PartStore>(std::move(store), rows, name);
    const OpenedEntry entry = index.empty() ? make_opened_entry(std::move(part))
                                            : make_opened_entry(std::move(part), gzip::Index::parse(index));
    return std::make_unique<NpzDataset>(std::move(content), entry);
  }
  std::unique_ptr<NewFile> create(const std::string& path, const FileOptions& options) const override;
};

std::unique_ptr<NewFile> Npz::create(const std::string& path, const FileOptions& options) const {
  NewContent content;
  content.members = make_new_members(path, options, "arr_0");
  const std::string file(array_name(path).file);
  std::vector<Entry> entries;
  std::int64_t end = 0;
  for (Member& member : content.members) {
    ArrayType& type = member.type;
    if (const std::int64_t bytes_of_dtype = npy::dtype_bytes(type.dtype); bytes_of_dtype != type.element_bytes)
      base::throw_argument_error(file, "::", member.name, ": elements of dtype ", type.dtype, " have ", bytes_of_dtype,
                                 " bytes, but ", type.element_bytes, " were given; leave them out or correct them");
    if (member.name.size() + kNpySuffix.size() > UINT16_MAX)
      base::throw_argument_error(path, ": the name of an array has ", member.name.size(),
                                 " bytes; zip files have names of less than 65532");
    const auto head = static_cast<std::int64_t>(npy::make_header(type.dtype, type.order, type.shape).size());
    const auto bytes = array_bytes(type.shape, type.element_bytes);
    if (!bytes) base::throw_argument_error(file, "::", member.name, " has more than 2^63 - 1 bytes");
    const Entry& entry =
        entries.emplace_back(make_entry(member, end, base::checked_add(head, *bytes, "bytes of the file")));
    member.stored = entry.compressed_bytes;
    member.storage = "stored";
    member.element = type.dtype;
    member.data_offset = npy_begin(entry) + head;
    end = base::checked_add(npy_begin(entry), entry.compressed_bytes, "bytes of the file");
  }
  static_cast<Content&>(content) = content.members.front();
  content.file_bytes =
      base::checked_add(end, static_cast<std::int64_t>(encode_directory(entries, end).size()), "bytes of the file");
  return std::make_unique<NpzNewFile>(std::move(content));
}

}  // namespace

const Format& format() {
  static const Npz kFormat;
  return kFormat;
}

}  // namespace plait::container::npz
