#include "container/zarr/zarr_format.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes_json.hpp"
#include "container/format_registry.hpp"
#include "container/zarr/chunk_store.hpp"
#include "container/zarr/growth/array_shape.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/nczarr.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/texts/text_store.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "plait/error.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::Rejection;
using base::text;

constexpr int kDeepest = 32;
constexpr std::size_t kMaxArrays = 100'000;

std::string chunks_text(const Metadata& metadata) {
  std::string out = "chunks ";
  for (std::size_t d = 0; d < metadata.chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", metadata.chunk[d]);
  if (metadata.chunk.empty()) out = "one chunk";
  return text(out, ", ", metadata.describe());
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

/// Describes the attributes of an array, and its dimensions as far as the attributes state them. Returns the paths of
/// the dimensions that netCDF's library has stated.
std::vector<std::string> describe_attributes(Content& found, const StoredMetadata& array) {
  ArrayAttributes attributes = attributes_in(array.text, array.objects, array.object);
  std::vector<std::string> references = dimension_references(array, attributes, found.type.shape.size());
  name_dimensions(found, references);
  remove_nczarr_attributes(attributes);
  take_attributes(found, std::move(attributes), array.text, array.objects.object_location(array.object));
  return references;
}

/// An array of a hierarchy, and the paths of its dimensions if netCDF's library has stated them.
struct ListedArray {
  Member member;
  std::vector<std::string> references;
};

/// Describes an array. If it cannot be opened, the description has the metadata that was read before the error.
ListedArray describe_array(store::ObjectStore& objects, const std::string& object, const std::string& content) {
  const std::string file = objects.object_location(object);
  ListedArray found;
  Member& member = found.member;
  member.storage = "chunks";
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {  // the other fields can still be read
      if (!member.rejection) member.rejection = Rejection(error.what());
    }
  };
  Metadata metadata;
  attempt([&] { parse_metadata(content, file, metadata); });
  static_cast<Content&>(member) = found_in(metadata);
  attempt([&] { found.references = describe_attributes(member, {content, objects, object}); });
  member.element = metadata.element;
  member.stored = Member::kNotCounted;
  if (!member.rejection) {
    member.storage = chunks_text(metadata);
    member.rejection = metadata.packing.missing_library();
  }
  return found;
}

/// The arrays and groups of a hierarchy.
struct HierarchyContent {
  std::vector<Member> members;
  std::vector<std::vector<std::string>> references;  ///< for each member
  std::vector<GroupAttributes> groups;
};

/// Adds the arrays whose names begin with `prefix`, and those of the groups below. It does not follow links.
/// name: the name of the array or group in the hierarchy.
void collect(store::ObjectStore& objects, const std::string& prefix, const std::string& name, HierarchyContent& found) {
  std::vector<Member>& members = found.members;
  const std::string object = metadata_object(objects, prefix);
  try {
    const std::optional<StoredText> content = read_text(objects, object);
    if (!content) return;
    if (!is_group(content->text, objects.object_location(object))) {
      ListedArray array = describe_array(objects, object, content->text);
      members.push_back(std::move(array.member));
      members.back().name = name;
      found.references.push_back(std::move(array.references));
      return;
    }
    GroupAttributes group{name, attributes_in(content->text, objects, object), {}};
    group.dimensions = group_dimensions({content->text, objects, object}, group.attributes);
    remove_nczarr_attributes(group.attributes);
    found.groups.push_back(std::move(group));
  } catch (const Error& failure) {  // the other arrays can still be read
    Member& member = members.emplace_back();
    member.name = name;
    member.storage = "chunks";
    member.rejection = Rejection(failure.what());
    found.references.emplace_back();
    return;
  }
  if (std::ranges::count(prefix, '/') == kDeepest || members.size() > kMaxArrays)
    base::throw_system_error(0, objects.object_location(prefix), ": groups are nested deeper than ", kDeepest,
                             ", or hold more than ", kMaxArrays, " arrays; name one");
  std::vector<std::string> below;
  objects.list(prefix, store::ListDepth::kChildren, [&](const store::ListedObject& child) {
    if (child.name.ends_with('/')) below.push_back(child.name.substr(0, child.name.size() - 1));
  });
  std::ranges::sort(below);
  for (const std::string& one : below)
    collect(objects, text(prefix, one, '/'), name.empty() ? one : text(name, '/', one), found);
}

HierarchyContent found_below(const store::Store& store, const std::string& file) {
  const fs::path folder = fs::path(store.name()).parent_path();
  const std::string name = folder.lexically_relative(file).string();
  HierarchyContent found;
  collect(*store::open_objects(folder.string(), store::Sharing::kPrivate), {}, name == "." ? std::string() : name,
          found);
  for (std::size_t i = 0; i < found.members.size(); ++i)
    found.members[i].unlimited = unlimited_dimensions(found.references[i], found.groups);
  return found;
}

/// The shape in an array's metadata, for all objects of this rank that refer to the array.
struct StoredShape {
  explicit StoredShape(Extents present) : shape(std::move(present)) {}
  Extents shape;
  bool is_changed = false;                  ///< a File has another shape, or has had one
  base::Rejection rejection{};              ///< the reason why the shape cannot change
  std::unique_ptr<store::ObjectLock> lock;  ///< on the rank that has called ShapeChanges::begin()
};

/// An array in chunks, each of which is an object or a part of one.
class ZarrDataset : public Dataset, public AttributeWriter, public ShapeChanges, public DeferredChanges {
 public:
  ZarrDataset(Content content, const std::shared_ptr<ChunkStore>& chunks, std::shared_ptr<StoredShape> stored = nullptr)
      : Dataset(std::move(content), chunks), chunks_(chunks), stored_(std::move(stored)) {
    if (!stored_) stored_ = std::make_shared<StoredShape>(chunks_->metadata().type.shape);
    if (TextAccess* const texts = chunks->texts()) {
      set_texts({chunks, texts});
      reject_shapes(base::Rejection("its elements are texts of any length"));
    }
  }
  std::string encoded() const override { return chunks_->text(); }
  AttributeWriter* attribute_writer() override { return this; }
  ShapeChanges* shape_changes() override { return this; }
  DeferredChanges* deferred_changes() override { return stored_->is_changed ? this : nullptr; }
  void reject_shapes(base::Rejection rejection) { stored_->rejection = std::move(rejection); }

  void prepare() override { chunks_->objects().check(); }
  void write(const AttributeChanges& changes) override {
    change_attributes(chunks_->objects(), changes);
    drop_consolidated_above(chunks_->name());
  }

  void begin() override {
    const std::string& name = chunks_->name();
    if (stored_->rejection) stored_->rejection.raise(name, " cannot grow: ");
    stored_->lock = chunks_->objects().lock();
    if (!stored_->lock)
      base::throw_system_error(EBUSY, "cannot open ", name,
                               " with mode \"a\": another program has opened it to append to it; wait until that has "
                               "closed it, and open it again");
    if (const Extents present = read_shape(chunks_->objects()); present != stored_->shape)
      base::throw_system_error(EBUSY, "cannot open ", name,
                               " with mode \"a\": another program has just changed its shape from ",
                               shape_to_string(stored_->shape), " to ", shape_to_string(present), "; open it again");
  }
  void clear_outside() override { zarr::clear_outside(*chunks_); }
  void reduce(const Extents& shape) override {
    // Elements that were appended since the file was opened stay invisible until it is closed.
    Extents in_file = stored_->shape;
    for (std::size_t d = 0; d < shape.size(); ++d) in_file[d] = std::min(in_file[d], shape[d]);
    chunks_->sync();
    store_shape(in_file);
    remove_outside(*chunks_, shape);
  }
  std::unique_ptr<Dataset> with_shape(const Extents& shape) override {
    if (chunks_->fresh() && !chunks_->objects().renames())
      base::throw_argument_error(chunks_->name(),
                                 ": a new array in this store does not grow before it is closed; close it, and open it "
                                 "with mode \"a\"");
    Content changed = content();
    changed.type.shape = shape;
    auto made = std::make_unique<ZarrDataset>(std::move(changed), chunks_->with_shape(shape), stored_);
    stored_->is_changed = true;
    return made;
  }
  bool follows_elements() const override { return true; }
  void commit() override { store_shape(chunks_->metadata().type.shape); }

 private:
  void store_shape(const Extents& shape) {
    if (shape == stored_->shape) return;
    chunks_->objects().check();
    change_shape(chunks_->objects(), stored_->shape, shape);
    stored_->shape = shape;
  }

  std::shared_ptr<ChunkStore> chunks_;
  std::shared_ptr<StoredShape> stored_;
};

/// Returns the absolute location of an array whose metadata is in a store. Chunks are opened when they are read, after
/// the working directory may have changed.
std::string array_location(const store::Store& metadata) {
  return fs::path(store::absolute_location(metadata.name())).parent_path().string();
}

/// fresh: see ChunkObjects.
std::shared_ptr<ChunkStore> make_chunks(std::shared_ptr<store::ObjectStore> objects, Metadata metadata,
                                        const std::string& content, bool fresh) {
  if (metadata.type.has_texts())
    return std::make_shared<TextStore>(std::move(objects), std::move(metadata), content, fresh);
  return std::make_shared<ChunkStore>(std::move(objects), std::move(metadata), content, fresh);
}

std::shared_ptr<ChunkStore> open_chunks(const store::Store& store, Metadata metadata, const std::string& content) {
  return make_chunks(store::open_objects(array_location(store), store::Sharing::kShared), std::move(metadata), content,
                     false);
}

class ZarrFile : public OpenedFile {
 public:
  ZarrFile(std::shared_ptr<store::Store> store, std::string name)
      : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}
  std::vector<Member> arrays() override { return found_below(*store_, file_).members; }
  std::vector<GroupAttributes> groups() override { return found_below(*store_, file_).groups; }
  std::unique_ptr<Dataset> dataset(const FileOptions& /*stated*/) override {
    const std::string file = store_->name();
    const std::string content = read_content(*store_);
    if (is_group(content, file)) throw_is_group();
    Metadata metadata = parse_metadata(content, file);
    metadata.check_codecs(name_);
    const std::shared_ptr<ChunkStore> chunks = open_chunks(*store_, std::move(metadata), content);
    store::ObjectStore& objects = chunks->objects();
    const std::string object = file.substr(file.rfind('/') + 1);
    Content found = found_in(chunks->metadata());
    const bool has_lengths = !describe_attributes(found, {content, objects, object}).empty();
    auto made = std::make_unique<ZarrDataset>(std::move(found), chunks);
    if (has_lengths)
      made->reject_shapes(
          base::Rejection("netCDF's library has written the lengths of its dimensions into the group as well; copy it "
                          "into a new Zarr array, and append to that"));
    return made;
  }

 private:
  [[noreturn]] void throw_is_group() {
    const std::vector<Member> members = arrays();
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 12); ++i)
      base::append_parts(names, i == 0 ? "" : ", ", members[i].name);
    base::throw_argument_error(name_, " is a group, which holds ", members.size(),
                               members.size() == 1 ? " array" : " arrays", members.empty() ? "" : ": ", names,
                               members.size() > 12 ? ", ..." : "",
                               "; give the name of an array behind ::, as in data.zarr::/group/array");
  }

  std::shared_ptr<store::Store> store_;
  std::string name_;
  std::string file_;
};

class ZarrNewFile : public NewFile {
 public:
  ZarrNewFile(NewContent content, store::Sharing sharing, bool durable)
      : NewFile(std::move(content)), sharing_(sharing), durable_(durable) {}
  std::unique_ptr<Dataset> dataset(std::shared_ptr<store::Store> store) const override {
    const std::vector<std::byte>& head = content().head;
    const std::string metadata(reinterpret_cast<const char*>(head.data()), head.size());
    const std::shared_ptr<store::ObjectStore> objects = store::open_objects(array_location(*store), sharing_);
    objects->set_durable(durable_);
    const std::shared_ptr<ChunkStore> chunks =
        make_chunks(objects, parse_metadata(metadata, store->name()), metadata, true);
    return std::make_unique<ZarrDataset>(static_cast<const Content&>(content()), chunks);
  }

 private:
  store::Sharing sharing_;
  bool durable_;
};

class Zarr : public Format, public FolderFormat {
 public:
  Zarr(std::string_view name, Version version)
      : Format({.name = name,
                .suffix = ".zarr",
                .kind = "a Zarr folder",
                .names_arrays = true,
                .keeps_chunks = true,
                .has_texts = true}),
        version_(version) {}
  bool begins(std::span<const std::byte> /*header*/) const override { return false; }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<ZarrFile>(std::move(store), name);
  }
  std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store, const std::string& name,
                                  std::string_view encoded) const override {
    const std::string metadata(encoded);
    Metadata parsed = parse_metadata(metadata, store->name());
    parsed.check_codecs(name);
    const std::shared_ptr<ChunkStore> chunks = open_chunks(*store, std::move(parsed), metadata);
    return std::make_unique<ZarrDataset>(std::move(content), chunks);
  }
  std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& options) const override {
    const bool keeps = options.keeps_unfinished || options.continues;
    return std::make_unique<ZarrNewFile>(new_array(name, options, version_),
                                         keeps ? store::Sharing::kResumable : store::Sharing::kPrivate,
                                         options.durable.value_or(true));
  }
  Rejection attribute_rejection(const std::string& /*name*/, const ArrayAttribute& attribute,
                                bool /*of_group*/) const override {
    if (is_nczarr_attribute(attribute.name))
      return Rejection("netCDF's library keeps an attribute of this name for itself");
    return json_rejection(attribute);
  }
  const FolderFormat* folder() const override { return this; }
  FolderMetadata locate_metadata(std::string_view path, std::optional<std::string_view> array) const override {
    return find_metadata(array_folder(path, array), version_);
  }
  NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                       const std::map<std::string, std::string>& groups) const override {
    return zarr::new_folder(path, array, groups, version_);
  }

 private:
  Version version_;
};

}  // namespace

std::span<const Format* const> formats() {
  // Both read both versions; a new file without a prefix has the first one.
  static const Zarr kThird("zarr", Version::k3);
  static const Zarr kSecond("zarr2", Version::k2);
  static const Format* const kFormats[] = {&kThird, &kSecond};
  return kFormats;
}

}  // namespace plait::container::zarr
