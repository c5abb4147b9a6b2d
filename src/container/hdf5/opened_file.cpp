// The parts of an existing file as the layers above see them: its arrays, and an array that is open.

#include "container/hdf5/opened_file.hpp"

#include <filesystem>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "container/format_registry.hpp"
#include "container/hdf5/changing/attribute_changes.hpp"
#include "container/hdf5/growth/added_dataset.hpp"
#include "container/hdf5/growth/dataset_growth.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/library_read/library_store.hpp"
#include "container/hdf5/ranges/range_dataset.hpp"
#include "container/hdf5/texts/heap_texts.hpp"
#include "container/members.hpp"

namespace plait::container::hdf5 {

namespace {

Member make_member(NamedDataset& named) {
  HdfDataset& dataset = named.dataset;
  Member member;
  member.name = std::move(named.name);
  member.storage = dataset.describe_storage();
  member.data_offset = dataset.storage == Storage::kContiguous ? dataset.offset : 0;
  if (!dataset.chunk.empty()) member.chunk = std::move(dataset.chunk);
  member.whole_chunks = dataset.storage == Storage::kChunks && dataset.decodes_chunks();
  member.dimension_names = std::move(dataset.dimension_names);
  member.fill = dataset.element_fill();
  member.unlimited = std::move(dataset.unlimited);
  member.attributes = std::move(named.attributes);
  member.element = std::move(dataset.type_name);
  member.stored = dataset.stored_bytes;
  member.type = std::move(dataset.type);
  member.library = std::move(dataset.library_reason);
  member.copy_reason = std::move(dataset.copy_reason);
  member.rejection = std::move(dataset.rejection);
  member.has_elements = !dataset.is_null;
  return member;
}

std::vector<Member> make_members(std::vector<NamedDataset> datasets) {
  std::vector<Member> members;
  for (NamedDataset& dataset : datasets) members.push_back(make_member(dataset));
  return members;
}

}  // namespace

OpenedDataset::OpenedDataset(Content content, std::shared_ptr<DatasetStore> store, const std::string& path)
    : container::Dataset(std::move(content), store),
      file_(std::filesystem::absolute(array_name(path).file).string()),
      dataset_(std::move(store)) {
  const HdfDataset& description = dataset_->dataset();
  if (description.type.has_texts())
    set_texts(std::make_shared<HeapTexts>(dataset_->file(), path, description.heap_base, description.missing_text));
}

OpenedDataset::OpenedDataset(Content content, const std::shared_ptr<ChangedDataset>& store, const std::string& path)
    : OpenedDataset(std::move(content), std::shared_ptr<DatasetStore>(store), path) {
  changed_ = store;
  const HdfDataset& description = store->dataset();
  if (description.type.has_texts())
    set_texts(std::make_shared<HeapTexts>(
        store->file(), path, description.heap_base, description.missing_text,
        [store](std::span<const std::byte> collection) { return store->append_heap(collection); }));
}

std::string OpenedDataset::encoded() const { return encode_dataset(dataset_->dataset()); }

void OpenedDataset::prepare_changes() {
  dataset_->check_writable();
  if (changed_ && !changed_->is_growing() && dataset_->dataset().relocates_on_write()) changed_->begin_changes();
}

DeferredChanges* OpenedDataset::deferred_changes() { return changed_ && changed_->is_being_changed() ? this : nullptr; }

ShapeChanges* OpenedDataset::shape_changes() {
  return changed_ && changed_->is_growing() && changed_->dataset().storage != Storage::kChunks ? nullptr : this;
}

void OpenedDataset::share(std::unique_ptr<transport::Counter> counter, bool is_only_writer) {
  changed_->share(std::move(counter), is_only_writer);
}

void OpenedDataset::commit() { changed_->commit(); }

void OpenedDataset::prepare() {
  if (deferred_changes() != nullptr) return changed_->check_not_open_elsewhere();
  (void)lock_for_attributes(dataset_->file(), file_);
}

void OpenedDataset::write(const AttributeChanges& changes) {
  change_stored_attributes(dataset_->file(), file_, dataset_->dataset().path, changes);
}

void OpenedDataset::begin() {
  if (const base::Rejection why = growth_rejection(dataset_->dataset()))
    base::throw_argument_error(dataset_->name(), " cannot grow: ", why.reason(),
                               "; copy it to a new file with an unlimited dimension (plait copy --unlimited)");
  changed_ = changed_->begin_growth();
  dataset_ = changed_;
  Content stored = content();
  stored.type.shape = changed_->dataset().type.shape;
  replace(std::move(stored), changed_);
}

void OpenedDataset::clear_outside() { changed_->clear_outside(changed_->dataset().type.shape); }

void OpenedDataset::reduce(const Extents& shape) { changed_->reduce(shape); }

std::unique_ptr<container::Dataset> OpenedDataset::with_shape(const Extents& shape) {
  Content changed = content();
  changed.type.shape = shape;
  auto reshaped = std::make_unique<OpenedDataset>(std::move(changed), changed_->with_shape(shape), file_);
  reshaped->file_ = file_;
  return reshaped;
}

std::unique_ptr<container::Dataset> make_opened_dataset(Content content, std::shared_ptr<store::Store> file,
                                                        HdfDataset dataset, const std::string& path) {
  if (!dataset.library_reason.empty()) {
    auto store = std::make_shared<LibraryStore>(std::move(file), dataset, path);
    return std::make_unique<OpenedDataset>(std::move(content), std::move(store), path);
  }
  if (file->object_identity()) {
    auto store = std::make_shared<RangeDataset>(std::move(file), std::move(dataset), path);
    return std::make_unique<OpenedDataset>(std::move(content), std::move(store), path);
  }
  // A change may store chunks, and the elements of texts, at new offsets.
  if (dataset.storage == Storage::kChunks || dataset.relocates_on_write() || dataset.changes) {
    const auto changed = std::make_shared<ChangedDataset>(std::move(file), std::move(dataset), path);
    return std::make_unique<OpenedDataset>(std::move(content), changed, path);
  }
  auto store = std::make_shared<DatasetStore>(std::move(file), std::move(dataset), path);
  return std::make_unique<OpenedDataset>(std::move(content), std::move(store), path);
}

OpenedHdfFile::OpenedHdfFile(std::shared_ptr<store::Store> store, std::string name)
    : store_(std::move(store)), name_(std::move(name)), file_(array_name(name_).file) {}

std::vector<Member> OpenedHdfFile::arrays() {
  const auto array = array_name(name_).array;
  std::vector<Member> members = make_members(HdfFile(*store_, file_).list_datasets(array.value_or("")));
  if (array && members.size() == 1 && members.front().rejection) members.front().rejection.raise(name_, ": ");
  return members;
}

std::vector<GroupAttributes> OpenedHdfFile::groups() {
  HdfFile file(*store_, file_);
  (void)file.list_datasets("");  // lists the groups
  return file.groups();
}

bool OpenedHdfFile::lacks_array() const {
  const auto array = array_name(name_).array;
  return array && !array->empty() && HdfFile(*store_, file_).lacks(*array);
}

std::unique_ptr<container::Dataset> OpenedHdfFile::add(const FileOptions& options) {
  return add_dataset(store_, name_, options);
}

std::unique_ptr<container::Dataset> OpenedHdfFile::dataset(const FileOptions& /*stated*/) {
  const auto array = array_name(name_).array;
  HdfFile file(*store_, file_);
  HdfDataset description = file.describe_dataset(array ? std::string(*array)
                                                       : find_member(make_members(file.list_datasets("")), name_).name);
  Content content(description.type, 0);
  if (!description.chunk.empty()) content.chunk = description.chunk;
  content.whole_chunks = description.decodes_chunks();
  content.fill = description.element_fill();
  content.attributes = description.attributes;
  return make_opened_dataset(std::move(content), store_, std::move(description), name_);
}

}  // namespace plait::container::hdf5
