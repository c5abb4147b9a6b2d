#include "container/hdf5/container.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/text_reader.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/file.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/store.hpp"
#include "container/hdf5/writing/new_chunks.hpp"
#include "container/hdf5/writing/new_file.hpp"
#include "container/members.hpp"
#include "container/refuse.hpp"
#include "container/registry.hpp"
#include "container/zarr/new_array.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

/// Without the slash in front, which may be left out.
std::string bare(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

Member member_of(NamedDataset& found) {
  Dataset& dataset = found.dataset;
  Member member;
  member.name = std::move(found.name);
  member.kept = dataset.kept();
  member.content = {std::move(dataset.type), dataset.storage == Storage::kWhole ? dataset.offset : 0,
                    std::move(dataset.chunk)};
  member.content.packed = dataset.storage == Storage::kChunks && !dataset.filters.empty();
  member.content.dimension_names = std::move(dataset.dimension_names);
  member.element = std::move(dataset.element);
  member.stored = dataset.stored;
  member.refused = std::move(dataset.refused);
  return member;
}

constexpr std::int64_t kUsualChunk = std::int64_t{1} << 20;  // what the library's own cache holds

/// The chunk of the only array of a new file.  Arrays without dimensions or elements are kept in one piece.
Extents new_chunk(const std::string& path, const FileOptions& options, const ArrayType& type) {
  if (std::ranges::find(type.shape, 0) != type.shape.end() || type.shape.empty()) return {};
  Extents chunk = options.chunk.value_or(zarr::usual_chunk(type, kUsualChunk));
  if (chunk.size() != type.shape.size() || std::ranges::any_of(chunk, [](std::int64_t size) { return size < 1; }))
    refuse(text(path, ": chunks of ", shape_to_string(chunk), " do not fit an array ", shape_to_string(type.shape),
                "; give a size of 1 or more for each dimension"));
  for (std::size_t d = 0; d < chunk.size(); ++d) chunk[d] = std::min(chunk[d], type.shape[d]);
  const auto bytes = bytes_of(chunk, type.element_bytes);
  if (!bytes || *bytes > kMostPacked || std::ranges::any_of(chunk, [](std::int64_t size) { return size > UINT32_MAX; }))
    refuse(text(path, ": chunks of ", shape_to_string(chunk), " have more than ", kMostPacked,
                " bytes; give smaller ones"));
  return chunk;
}

/// What options say of a new file, without offsets.
NewContent new_content(const std::string& path, const FileOptions& options) {
  NewContent made;
  made.members = members_of_new(path, options, "data");
  for (Member& one : made.members) {
    if (options.arrays.empty()) one.name = bare(one.name);
    if (!bytes_of(one.content.type.shape, one.content.type.element_bytes))
      refuse(text(path, "::", one.name, " has more than 2^63 - 1 bytes; make it smaller"));
  }
  if (options.shard || !options.fill_value.empty() || !options.dimension_names.empty())
    refuse(text(path,
                ": shards, a fill value or names of dimensions were given, which Plait writes to .zarr only; "
                "leave them out"));
  Member& first = made.members.front();
  made.codec = options.codec;
  const std::vector<Filter> filters = filters_of(made.codec, first.content.type.element_bytes);
  if (!options.chunk && filters.empty()) return made;
  if (!options.arrays.empty())
    refuse(text(path,
                ": chunks and a codec were given for several arrays, but new HDF5 files have several in one "
                "piece each; leave them out, or write each array to a file of its own"));
  first.content.chunk = new_chunk(path, options, first.content.type);
  first.content.packed = !first.content.chunk.empty() && !filters.empty();
  return made;
}

/// That in chunks of a new file.
Dataset dataset_of(const NewContent& made) {
  const Content& content = made.members.front().content;
  Dataset dataset;
  dataset.type = content.type;
  dataset.storage = Storage::kChunks;
  dataset.chunk = content.chunk;
  dataset.filters = filters_of(made.codec, content.type.element_bytes);
  return dataset;
}

/// The offset of an array in chunks is where these begin; their view has it from 0 on.
void set_offsets(NewContent& made, const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 0; i < offsets.size(); ++i) made.members[i].content.data_offset = offsets[i];
  static_cast<Content&>(made) = made.members.front().content;
  if (!made.chunk.empty()) made.data_offset = 0;
}

class Hdf5 : public NamingContainer {
 public:
  explicit Hdf5(std::string_view suffix) : suffix_(suffix) {}
  std::string_view suffix() const override { return suffix_; }
  std::string kind() const override { return "an HDF5 file"; }
  bool begins(std::span<const std::byte> front) const override { return is_hdf5(front); }
  std::optional<Order> only_order() const override { return Order::kC; }

  std::vector<Member> list(store::Store& store, const std::string& file) const override {
    std::vector<Member> members;
    for (NamedDataset& one : HdfFile(store, file).datasets("")) members.push_back(member_of(one));
    return members;
  }
  std::vector<Member> list_named(store::Store& store, const std::string& path) const override {
    const auto [file, array] = array_name(path);
    std::vector<Member> members;
    for (NamedDataset& one : HdfFile(store, std::string(file)).datasets(*array)) members.push_back(member_of(one));
    if (members.size() == 1 && !members.front().refused.empty()) refuse(text(path, ": ", members.front().refused));
    return members;
  }
  std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, const std::string& path,
                                     std::string_view told) const override {
    if (!told.empty()) return std::make_shared<DatasetStore>(std::move(store), unpacked(told), path);
    const auto [file, array] = array_name(path);
    const std::string name = array ? std::string(*array) : chosen(list(*store, std::string(file)), path).name;
    Dataset dataset = HdfFile(*store, std::string(file)).dataset(name);
    return std::make_shared<DatasetStore>(std::move(store), std::move(dataset), path);
  }
  std::string tell(const store::Store& view) const override {
    return packed(dynamic_cast<const DatasetStore&>(view).dataset());
  }
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override {
    const Dataset& dataset = dynamic_cast<DatasetStore&>(store).dataset();
    Content found{dataset.type, 0, dataset.chunk};
    found.packed = !dataset.filters.empty();
    check_told(found, path, options);
    return found;
  }
  void check_changeable(const store::Store& view) const override {
    if (const std::string why = dynamic_cast<const DatasetStore&>(view).refuses_writes(); !why.empty()) refuse(why);
  }
  bool keeps_chunks() const override { return true; }
  /// What is known of chunks while they are written is in the file only at its end.
  bool keeps_unfinished() const override { return false; }
  NewContent create(const std::string& path, const FileOptions& options) const override {
    NewContent made = new_content(path, options);
    const ArrayType& first = made.members.front().content.type;
    NewFile file =
        make_file(made.members, filters_of(made.codec, first.element_bytes), std::string(array_name(path).file));
    made.head = std::move(file.head);
    made.file_bytes = file.bytes;
    if (!made.members.front().content.chunk.empty()) {
      constexpr std::int64_t kPage = 4096;
      file.offsets.front() = made.file_bytes = (file.bytes + kPage - 1) / kPage * kPage;
      if (const auto chunks = dataset_of(made); chunks.filters.empty())
        made.file_bytes = base::checked_add(made.file_bytes, made.members.front().content.bytes(), "bytes of the file");
    }
    set_offsets(made, file.offsets);
    return made;
  }
  std::shared_ptr<store::Store> view_of_new(std::shared_ptr<store::Store> store,
                                            const NewContent& made) const override {
    if (made.chunk.empty()) return store;
    return std::make_shared<NewChunks>(std::move(store), dataset_of(made), made.members.front().content.data_offset);
  }
  bool shares(const NewContent& made) const override { return !made.chunk.empty(); }
  void share(store::Store& view, std::unique_ptr<transport::Counter> counter, bool alone) const override {
    dynamic_cast<NewChunks&>(view).share(std::move(counter), alone);
  }
  bool seals() const override { return true; }
  void seal(store::Store& store, const NewContent& made) const override {
    if (!made.chunk.empty()) dynamic_cast<NewChunks&>(store).finish(made.head);
  }
  std::string tell_new(const NewContent& made) const override {
    std::string told;
    for (const Member& one : made.members) base::append_parts(told, one.content.data_offset, ' ');
    return told;
  }
  NewContent told_new(const std::string& path, const FileOptions& options, std::string_view told) const override {
    NewContent made = new_content(path, options);
    base::TextReader in{std::string(told)};
    std::vector<std::int64_t> offsets(made.members.size());
    for (std::int64_t& offset : offsets) in >> offset;
    set_offsets(made, offsets);
    return made;
  }

 private:
  std::string_view suffix_;
};

}  // namespace

std::span<const Container* const> containers() {
  static const std::array kContainers{Hdf5(".h5"), Hdf5(".hdf5"), Hdf5(".he5"), Hdf5(".nc4")};
  static const std::array<const Container*, 4> kPointers{&kContainers[0], &kContainers[1], &kContainers[2],
                                                         &kContainers[3]};
  return kPointers;
}

bool is_hdf5(std::span<const std::byte> front) {
  return front.size() >= kSignature.size() &&
         std::equal(kSignature.begin(), kSignature.end(), reinterpret_cast<const char*>(front.data()));
}

bool is_hdf5(store::Store& store) {
  std::array<std::byte, kSignature.size()> front{};
  if (store.size() < static_cast<std::int64_t>(front.size())) return false;
  store.read({{0, front.data(), static_cast<std::int64_t>(front.size())}});
  return is_hdf5(front);
}

}  // namespace plait::container::hdf5
