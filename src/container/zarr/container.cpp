#include "container/zarr/container.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes_json.hpp"
#include "container/members.hpp"
#include "container/registry.hpp"
#include "container/zarr/attributes.hpp"
#include "container/zarr/chunk_store.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/target.hpp"
#include "plait/error.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::text;

constexpr int kDeepest = 32;
constexpr std::size_t kMostArrays = 100'000;

std::string chunks_text(const Metadata& metadata) {
  std::string out = "chunks ";
  for (std::size_t d = 0; d < metadata.chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", metadata.chunk[d]);
  if (metadata.chunk.empty()) out = "one chunk";
  return text(out, ", ", metadata.words());
}

Extents shard_of(const Metadata& metadata) { return metadata.shards ? metadata.shards->shape : Extents(); }

std::int64_t bytes_below(store::ObjectStore& objects, const std::string& prefix) {
  std::int64_t bytes = 0;
  objects.list(prefix, store::ListDepth::kAll, [&](const store::ListedObject& object) { bytes += object.bytes; });
  return bytes;
}

/// Describes an array, without its attributes.
Content found_in(const Metadata& metadata) {
  Content found{metadata.type, 0, metadata.chunk, shard_of(metadata), metadata.dimension_names, !metadata.plain()};
  found.fill = metadata.fill;
  return found;
}

/// Describes an array that cannot be opened, with the metadata that was read before the error.
Member member_of(store::ObjectStore& objects, const std::string& object, const std::string& content) {
  const std::string file = objects.name_of(object);
  Member member;
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
  member.content = found_in(metadata);
  attempt([&] { take_attributes(member.content, attributes_in(content, objects, object), content, file); });
  member.element = metadata.element;
  member.stored = bytes_below(objects, object.substr(0, object.rfind('/') + 1));
  if (member.refused.empty()) member.kept = chunks_text(metadata);
  if (member.refused.empty()) member.refused = metadata.packing.missing();
  return member;
}

/// What is found in a hierarchy.
struct Found {
  std::vector<Member> members;
  std::vector<GroupAttributes> groups;
};

/// Adds the arrays whose names begin with `prefix`, and those of the groups below; those of links are not followed.
/// name: of the array or group in the hierarchy.
void collect(store::ObjectStore& objects, const std::string& prefix, const std::string& name, Found& found) {
  std::vector<Member>& members = found.members;
  const std::string object = metadata_object(objects, prefix);
  try {
    const std::optional<StoredText> content = read_text(objects, object);
    if (!content) return;
    if (!is_group(content->text, objects.name_of(object))) {
      members.push_back(member_of(objects, object, content->text));
      members.back().name = name;
      return;
    }
    found.groups.push_back({name, attributes_in(content->text, objects, object)});
  } catch (const Error& failure) {  // the other arrays can still be read
    Member& member = members.emplace_back();
    member.name = name;
    member.kept = "chunks";
    member.refused = failure.what();
    return;
  }
  if (std::ranges::count(prefix, '/') == kDeepest || members.size() > kMostArrays)
    throw Error(ErrorKind::kSystem, text(objects.name_of(prefix), ": groups are nested deeper than ", kDeepest,
                                         ", or hold more than ", kMostArrays, " arrays; name one"));
  std::vector<std::string> below;
  objects.list(prefix, store::ListDepth::kChildren, [&](const store::ListedObject& child) {
    if (child.name.ends_with('/')) below.push_back(child.name.substr(0, child.name.size() - 1));
  });
  std::ranges::sort(below);
  for (const std::string& one : below)
    collect(objects, text(prefix, one, '/'), name.empty() ? one : text(name, '/', one), found);
}

Found found_below(const store::Store& store, const std::string& file) {
  const fs::path folder = fs::path(store.name()).parent_path();
  const std::string name = folder.lexically_relative(file).string();
  Found found;
  collect(*store::open_objects(folder.string(), store::Sharing::kPrivate), {}, name == "." ? std::string() : name,
          found);
  return found;
}

class Zarr : public NamingContainer {
 public:
  std::string_view suffix() const override { return ".zarr"; }
  std::string_view format() const override { return "zarr"; }
  std::string kind() const override { return "a Zarr folder"; }
  bool begins(std::span<const std::byte> /*front*/) const override { return false; }
  bool in_folder() const override { return true; }
  std::string file_of(std::string_view path, std::optional<std::string_view> array) const override;
  std::vector<Member> list(store::Store& store, const std::string& file) const override;
  std::vector<GroupAttributes> groups(store::Store& store, const std::string& file) const override;
  std::string refused_attribute(const std::string& /*path*/, const ArrayAttribute& attribute,
                                bool /*of_group*/) const override {
    return refused_by_json(attribute);
  }
  std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, const std::string& path,
                                     std::string_view told) const override;
  std::string tell(const store::Store& view) const override { return dynamic_cast<const ChunkStore&>(view).text(); }
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override {
    const auto& chunks = dynamic_cast<ChunkStore&>(store);
    const std::string object = metadata_object(chunks.objects(), {});
    const std::string file = chunks.objects().name_of(object);
    Content found = found_in(chunks.metadata());
    take_attributes(found, attributes_in(chunks.text(), chunks.objects(), object), chunks.text(), file);
    check_told(found, path, options);
    return found;
  }
  bool changes_attributes(const store::Store& /*view*/) const override { return true; }
  void prepare_attributes(store::Store& view, const std::string& /*path*/) const override {
    dynamic_cast<ChunkStore&>(view).objects().check();
  }
  void change_attributes(store::Store& view, const std::string& /*path*/,
                         const AttributeChanges& changes) const override {
    zarr::change_attributes(dynamic_cast<ChunkStore&>(view).objects(), changes);
    drop_consolidated_above(view.name());
  }
  bool keeps_chunks() const override { return true; }
  NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                       const std::map<std::string, std::string>& groups) const override {
    return zarr::new_folder(path, array, groups);
  }
  NewContent create(const std::string& path, const FileOptions& options) const override {
    return new_array(path, options);
  }
  std::shared_ptr<store::Store> view_of_new(std::shared_ptr<store::Store> store, const NewContent& made) const override;
};

std::string Zarr::file_of(std::string_view path, std::optional<std::string_view> array) const {
  return metadata_file(folder_of(path, array));
}

std::vector<Member> Zarr::list(store::Store& store, const std::string& file) const {
  return found_below(store, file).members;
}

std::vector<GroupAttributes> Zarr::groups(store::Store& store, const std::string& file) const {
  return found_below(store, file).groups;
}

std::shared_ptr<store::Store> Zarr::view(std::shared_ptr<store::Store> store, const std::string& path,
                                         std::string_view told) const {
  const std::string file = store->name();
  // Chunks are opened when they are read, and the working directory may be another one by then.
  const std::string folder = fs::absolute(file).parent_path().string();
  const std::string content = told.empty() ? content_of(*store) : std::string(told);
  if (told.empty() && is_group(content, file)) {
    const std::vector<Member> members = list(*store, std::string(array_name(path).file));
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 12); ++i)
      base::append_parts(names, i == 0 ? "" : ", ", members[i].name);
    throw Error(ErrorKind::kArgument,
                text(path, " is a group, which holds ", members.size(), members.size() == 1 ? " array" : " arrays",
                     members.empty() ? "" : ": ", names, members.size() > 12 ? ", ..." : "",
                     "; give the name of an array behind ::, as in data.zarr::/group/array"));
  }
  Metadata metadata = parse_metadata(content, file);
  metadata.check_codecs(path);
  return std::make_shared<ChunkStore>(store::open_objects(folder, store::Sharing::kShared), std::move(metadata),
                                      content, false);
}

std::shared_ptr<store::Store> Zarr::view_of_new(std::shared_ptr<store::Store> store, const NewContent& made) const {
  const std::string file = store->name();
  const std::string content(reinterpret_cast<const char*>(made.head.data()), made.head.size());
  const std::string folder = fs::absolute(file).parent_path().string();
  const auto sharing = made.keeps_unfinished ? store::Sharing::kResumable : store::Sharing::kPrivate;
  return std::make_shared<ChunkStore>(store::open_objects(folder, sharing), parse_metadata(content, file), content,
                                      true);
}

}  // namespace

const Container& container() {
  static const Zarr kContainer;
  return kContainer;
}

}  // namespace plait::container::zarr
