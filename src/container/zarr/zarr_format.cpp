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
#include "container/zarr/hierarchy/array_description.hpp"
#include "container/zarr/hierarchy/consolidated.hpp"
#include "container/zarr/hierarchy/hierarchy.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/nczarr.hpp"
#include "container/zarr/new_array.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/texts/text_store.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "plait/error.hpp"
#include "store/objects/object_bytes.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::zarr {

namespace {

namespace fs = std::filesystem;
using base::Rejection;
using base::text;

/// The shape in an array's metadata. All ZarrDatasets of one opened array share it; each has another shape in memory,
/// see ShapeChanges::with_shape().
struct StoredShape {
  explicit StoredShape(Extents present) : shape(std::move(present)) {}
  Extents shape;
  bool is_changed = false;                  ///< true once a File has had another shape
  base::Rejection rejection{};              ///< the reason why the shape cannot change
  std::unique_ptr<store::ObjectLock> lock;  ///< held on the rank that has called ShapeChanges::begin()
};

/// An array whose chunks are objects or parts of shards.
class ZarrDataset : public Dataset, public AttributeWriter, public ShapeChanges, public DeferredChanges {
 public:
  ZarrDataset(Content content, const std::shared_ptr<ChunkStore>& chunks, std::shared_ptr<StoredShape> stored = nullptr)
      : Dataset(std::move(content), chunks), chunks_(chunks), stored_(std::move(stored)) {
    if (!stored_) stored_ = std::make_shared<StoredShape>(chunks_->metadata().type.shape);
    if (TextAccess* const texts = chunks->texts()) {
      set_texts({chunks, texts});
      reject_shape_changes(base::Rejection("its elements are texts of any length"));
    }
  }
  std::string encoded() const override { return chunks_->text(); }
  AttributeWriter* attribute_writer() override { return this; }
  ShapeChanges* shape_changes() override { return this; }
  DeferredChanges* deferred_changes() override { return stored_->is_changed ? this : nullptr; }
  void reject_shape_changes(base::Rejection rejection) { stored_->rejection = std::move(rejection); }

  void prepare() override { chunks_->objects().check(); }
  void write(const AttributeChanges& changes) override {
    change_attributes(chunks_->objects(), changes);
    remove_parent_copies(chunks_->name());
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
    if (chunks_->is_new() && !chunks_->objects().renames())
      base::throw_argument_error(chunks_->name(),
                                 ": a new array in this store does not grow before it is closed; close it, and open it "
                                 "with mode \"a\"");
    Content changed = content();
    changed.type.shape = shape;
    auto reshaped = std::make_unique<ZarrDataset>(std::move(changed), chunks_->with_shape(shape), stored_);
    stored_->is_changed = true;
    return reshaped;
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

/// Returns a store of the chunks of an array.  is_new: see ChunkObjects.
std::shared_ptr<ChunkStore> make_chunks(std::shared_ptr<store::ObjectStore> objects, Metadata metadata,
                                        const std::string& content, bool is_new) {
  if (metadata.type.has_texts())
    return std::make_shared<TextStore>(std::move(objects), std::move(metadata), content, is_new);
  return std::make_shared<ChunkStore>(std::move(objects), std::move(metadata), content, is_new);
}

std::shared_ptr<ChunkStore> open_chunks(const store::Store& store, Metadata metadata, const std::string& content) {
  return make_chunks(store::open_neighbors(store, array_location(store)), std::move(metadata), content, false);
}

class ZarrFile : public OpenedFile {
 public:
  ZarrFile(std::shared_ptr<store::Store> store, std::string name)
      : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}
  std::vector<Member> arrays() override { return listed().members; }
  std::vector<GroupAttributes> groups() override { return listed().groups; }
  std::unique_ptr<Dataset> dataset(const FileOptions& /*stated*/) override {
    const std::string file = store_->name();
    const std::string content = read_content(*store_);
    if (is_group(content, file)) throw_group_error();
    Metadata metadata = parse_metadata(content, file);
    metadata.check_codecs(name_);
    const std::shared_ptr<ChunkStore> chunks = open_chunks(*store_, std::move(metadata), content);
    store::ObjectStore& objects = chunks->objects();
    const std::string object = file.substr(file.rfind('/') + 1);
    Content array = make_content(chunks->metadata());
    if (store::is_url(objects.name())) array.whole_chunks = true;  // a changed part is put with the rest of its chunk
    const bool has_nczarr_dimensions = !add_attributes(array, {content, objects, object}).empty();
    auto dataset = std::make_unique<ZarrDataset>(std::move(array), chunks);
    if (has_nczarr_dimensions)
      dataset->reject_shape_changes(
          base::Rejection("netCDF's library has written the lengths of its dimensions into the group as well; copy it "
                          "into a new Zarr array, and append to that"));
    return dataset;
  }

 private:
  const HierarchyContent& listed() {
    if (!listed_) listed_ = list_hierarchy(*store_, file_);
    return *listed_;
  }
  [[noreturn]] void throw_group_error() {
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
  std::optional<HierarchyContent> listed_;
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
                .has_chunks = true,
                .has_texts = true}),
        version_(version) {}
  bool has_signature(std::span<const std::byte> /*header*/) const override { return false; }
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
    const bool is_resumable = options.keeps_unfinished || options.continues;
    return std::make_unique<ZarrNewFile>(new_array(name, options, version_),
                                         is_resumable ? store::Sharing::kResumable : store::Sharing::kPrivate,
                                         options.durable.value_or(true));
  }
  Rejection attribute_rejection(const std::string& /*name*/, const ArrayAttribute& attribute,
                                bool /*of_group*/) const override {
    if (is_nczarr_attribute(attribute.name))
      return Rejection("netCDF's library keeps an attribute of this name for itself");
    return json_rejection(attribute);
  }
  const FolderFormat* folder() const override { return this; }
  FolderMetadata locate_metadata(std::string_view path, std::optional<std::string_view> array,
                                 MetadataCopies copies) const override {
    const std::string location(path);
    if (copies == MetadataCopies::kAllowed && requests_consolidated(location))
      if (std::unique_ptr<store::Store> copy =
              open_consolidated(location, std::string(strip_slashes(array.value_or("")))))
        return {copy->name(), true, std::move(copy)};
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
  // Each of these formats reads both versions. A new file without a prefix gets the first one.
  static const Zarr kVersion3Format("zarr", Version::k3);
  static const Zarr kVersion2Format("zarr2", Version::k2);
  static const Format* const kFormats[] = {&kVersion3Format, &kVersion2Format};
  return kFormats;
}

}  // namespace plait::container::zarr
