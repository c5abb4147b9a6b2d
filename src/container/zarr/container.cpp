#include "container/zarr/container.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes_json.hpp"
#include "container/registry.hpp"
#include "container/zarr/attributes.hpp"
#include "container/zarr/chunk_store.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/target.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;
using store::posix::PosixStore;

constexpr int kDeepest = 32;
constexpr std::size_t kMostArrays = 100'000;

std::string chunks_text(const Metadata& metadata) {
  std::string out = "chunks ";
  for (std::size_t d = 0; d < metadata.chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", metadata.chunk[d]);
  if (metadata.chunk.empty()) out = "one chunk";
  return text(out, ", ", metadata.words());
}

std::int64_t bytes_below(const fs::path& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored)) continue;
    const std::uintmax_t size = at->file_size(ignored);
    if (!ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

/// Describes an array, without its attributes.
Content found_in(const Metadata& metadata) {
  Content found(metadata.type, 0);
  found.chunk = metadata.chunk;
  if (metadata.shards) found.shard = metadata.shards->shape;
  found.dimension_names = metadata.dimension_names;
  found.packed = !metadata.plain();
  found.fill = metadata.fill;
  return found;
}

/// Describes an array that cannot be opened, with the metadata that was read before the error.
Member member_of(const fs::path& folder, const std::string& name, const std::string& content, const std::string& file) {
  Member member;
  member.name = name;
  member.kept = "chunks";
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {  // the other fields can still be read
      if (member.refused.empty()) member.refused = error.what();
    }
  };
  Metadata metadata;
  attempt([&] { parse_metadata(content, file, metadata); });
  static_cast<Content&>(member) = found_in(metadata);
  member.name = name;
  attempt([&] { take_attributes(member, attributes_in(content, file), content, file); });
  member.element = metadata.element;
  member.stored = bytes_below(folder);
  if (member.refused.empty()) member.kept = chunks_text(metadata);
  if (member.refused.empty()) member.refused = metadata.packing.missing();
  return member;
}

/// What is found in a hierarchy.
struct Found {
  std::vector<Member> members;
  std::vector<GroupAttributes> groups;
};

/// Adds the arrays in a folder and in the groups below it; those of links are not followed.
void collect(const fs::path& folder, const std::string& name, int depth, Found& found) {
  std::vector<Member>& members = found.members;
  const std::string file = metadata_file(folder);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  try {
    PosixStore store(file, PosixStore::Access::kRead);
    const std::string content = content_of(store);
    if (!is_group(content, file)) {
      members.push_back(member_of(folder, name, content, file));
      return;
    }
    found.groups.push_back({name, attributes_in(content, file)});
  } catch (const Error& failure) {  // the other arrays can still be read
    Member& member = members.emplace_back();
    member.name = name;
    member.kept = "chunks";
    member.refused = failure.what();
    return;
  }
  if (depth == kDeepest || members.size() > kMostArrays)
    throw Error(ErrorKind::kSystem, text(folder.string(), ": groups are nested deeper than ", kDeepest,
                                         ", or hold more than ", kMostArrays, " arrays; name one"));
  std::vector<fs::path> below;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) below.push_back(at->path());
  }
  std::ranges::sort(below);
  for (const fs::path& one : below)
    collect(one, name.empty() ? one.filename().string() : text(name, '/', one.filename().string()), depth + 1, found);
}

Found found_below(const store::Store& store, const std::string& file) {
  const fs::path folder = fs::path(store.name()).parent_path();
  const std::string name = folder.lexically_relative(file).string();
  Found found;
  collect(folder, name == "." ? std::string() : name, 0, found);
  return found;
}

/// An array in chunks, each of which is a file or a part of one.
class ZarrDataset : public Dataset, public AttributeWriter {
 public:
  ZarrDataset(Content content, const std::shared_ptr<ChunkStore>& chunks)
      : Dataset(std::move(content), chunks), chunks_(chunks) {}
  std::string encoded() const override { return chunks_->text(); }
  AttributeWriter* attribute_writer() override { return this; }

  void prepare() override { chunks_->check_folder(); }
  void write(const AttributeChanges& changes) override {
    change_attributes(metadata_file(chunks_->name()), changes);
    forget_consolidated_above(chunks_->name());
  }

 private:
  std::shared_ptr<ChunkStore> chunks_;
};

/// Chunks are opened when they are read, and the working directory may be another one by then.
std::string folder_of_metadata(const store::Store& metadata) {
  return fs::absolute(metadata.name()).parent_path().string();
}

class ZarrFile : public OpenedFile {
 public:
  ZarrFile(std::shared_ptr<store::Store> store, std::string name)
      : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}
  std::vector<Member> arrays() override { return found_below(*store_, file_).members; }
  std::vector<GroupAttributes> groups() override { return found_below(*store_, file_).groups; }
  std::unique_ptr<Dataset> dataset(const FileOptions& /*stated*/) override {
    const std::string file = store_->name();
    const std::string content = content_of(*store_);
    if (is_group(content, file)) refuse_group();
    Metadata metadata = parse_metadata(content, file);
    metadata.check_codecs(name_);
    const auto chunks =
        std::make_shared<ChunkStore>(folder_of_metadata(*store_), std::move(metadata), content, Finders::kAnyone);
    Content found = found_in(chunks->metadata());
    take_attributes(found, attributes_in(content, file), content, file);
    return std::make_unique<ZarrDataset>(std::move(found), chunks);
  }

 private:
  [[noreturn]] void refuse_group() {
    const std::vector<Member> members = arrays();
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 12); ++i)
      base::append_parts(names, i == 0 ? "" : ", ", members[i].name);
    throw Error(ErrorKind::kArgument,
                text(name_, " is a group, which holds ", members.size(), members.size() == 1 ? " array" : " arrays",
                     members.empty() ? "" : ": ", names, members.size() > 12 ? ", ..." : "",
                     "; give the name of an array behind ::, as in data.zarr::/group/array"));
  }

  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

class ZarrNewFile : public NewFile {
 public:
  ZarrNewFile(NewContent content, Finders finders) : NewFile(std::move(content)), finders_(finders) {}
  std::unique_ptr<Dataset> dataset(std::shared_ptr<store::Store> store) const override {
    const std::vector<std::byte>& head = content().head;
    const std::string metadata(reinterpret_cast<const char*>(head.data()), head.size());
    const auto chunks = std::make_shared<ChunkStore>(folder_of_metadata(*store),
                                                     parse_metadata(metadata, store->name()), metadata, finders_);
    return std::make_unique<ZarrDataset>(static_cast<const Content&>(content()), chunks);
  }

 private:
  Finders finders_;
};

class Zarr : public Format, public FolderFormat {
 public:
  Zarr()
      : Format(
            {.name = "zarr", .suffix = ".zarr", .kind = "a Zarr folder", .names_arrays = true, .keeps_chunks = true}) {}
  bool begins(std::span<const std::byte> /*front*/) const override { return false; }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<ZarrFile>(std::move(store), name);
  }
  std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store, const std::string& name,
                                  std::string_view encoded) const override {
    const std::string metadata(encoded);
    Metadata parsed = parse_metadata(metadata, store->name());
    parsed.check_codecs(name);
    const auto chunks =
        std::make_shared<ChunkStore>(folder_of_metadata(*store), std::move(parsed), metadata, Finders::kAnyone);
    return std::make_unique<ZarrDataset>(std::move(content), chunks);
  }
  std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& options) const override {
    const bool keeps = options.keeps_unfinished || options.continues;
    return std::make_unique<ZarrNewFile>(new_array(name, options), keeps ? Finders::kSuccessor : Finders::kNobody);
  }
  std::string rejected_attribute(const std::string& /*name*/, const ArrayAttribute& attribute,
                                 bool /*of_group*/) const override {
    return refused_by_json(attribute);
  }
  const FolderFormat* folder() const override { return this; }
  std::string file_of(std::string_view path, std::optional<std::string_view> array) const override {
    return metadata_file(folder_of(path, array));
  }
  NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                       const std::map<std::string, std::string>& groups) const override {
    return zarr::new_folder(path, array, groups);
  }
};

}  // namespace

const Format& format() {
  static const Zarr kFormat;
  return kFormat;
}

}  // namespace plait::container::zarr
