#include "container/hdf5/container.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/text_reader.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/changing/attribute_changes.hpp"
#include "container/hdf5/changing/changed_dataset.hpp"
#include "container/hdf5/file.hpp"
#include "container/hdf5/store.hpp"
#include "container/hdf5/writing/new_attributes.hpp"
#include "container/hdf5/writing/new_chunks.hpp"
#include "container/hdf5/writing/new_content.hpp"
#include "container/hdf5/writing/new_file.hpp"
#include "container/hdf5/writing/object_header.hpp"
#include "container/members.hpp"
#include "container/refuse.hpp"
#include "container/registry.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kSmallestUserBlock = 512;

Member member_of(NamedDataset& found) {
  Dataset& dataset = found.dataset;
  Member member;
  member.name = std::move(found.name);
  member.kept = dataset.kept();
  member.content = {std::move(dataset.type), dataset.storage == Storage::kWhole ? dataset.offset : 0,
                    std::move(dataset.chunk)};
  member.content.packed = dataset.storage == Storage::kChunks && !dataset.filters.empty();
  member.content.dimension_names = std::move(dataset.dimension_names);
  member.content.fill = std::move(dataset.fill);
  member.content.unlimited = std::move(dataset.unlimited);
  member.content.attributes = std::move(found.attributes);
  member.element = std::move(dataset.element);
  member.stored = dataset.stored;
  member.refused = std::move(dataset.refused);
  member.has_elements = !dataset.is_null;
  return member;
}

std::shared_ptr<store::Store> store_of(std::shared_ptr<store::Store> file, Dataset dataset, const std::string& path) {
  if (dataset.needs_room()) return std::make_shared<ChangedDataset>(std::move(file), std::move(dataset), path);
  return std::make_shared<DatasetStore>(std::move(file), std::move(dataset), path);
}

class Hdf5 : public NamingContainer {
 public:
  explicit Hdf5(std::string_view suffix) : suffix_(suffix) {}
  std::string_view suffix() const override { return suffix_; }
  std::string_view format() const override { return "hdf5"; }
  std::string kind() const override { return "an HDF5 file"; }
  bool begins(std::span<const std::byte> front) const override { return is_hdf5(front); }
  bool recognizes(store::Store& store, std::span<const std::byte> front) const override {
    return begins(front) || begins_later(store);
  }
  std::optional<Order> only_order() const override { return Order::kC; }

  std::vector<Member> list(store::Store& store, const std::string& file) const override {
    std::vector<Member> members;
    for (NamedDataset& one : HdfFile(store, file).datasets("")) members.push_back(member_of(one));
    return members;
  }
  std::vector<GroupAttributes> groups(store::Store& store, const std::string& file) const override {
    HdfFile found(store, file);
    (void)found.datasets("");
    return found.groups();
  }
  std::string refused_attribute(const std::string& path, const ArrayAttribute& attribute,
                                bool /*of_group*/) const override {
    return refused_by_hdf5(attribute, is_netcdf_name(path));
  }
  std::vector<Member> list_named(store::Store& store, const std::string& path) const override {
    const auto [file, array, format] = array_name(path);
    std::vector<Member> members;
    for (NamedDataset& one : HdfFile(store, std::string(file)).datasets(*array)) members.push_back(member_of(one));
    if (members.size() == 1 && !members.front().refused.empty()) refuse(text(path, ": ", members.front().refused));
    return members;
  }
  std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, const std::string& path,
                                     std::string_view told) const override {
    if (!told.empty()) return store_of(std::move(store), unpacked(told), path);
    const auto [file, array, format] = array_name(path);
    const std::string name = array ? std::string(*array) : chosen(list(*store, std::string(file)), path).name;
    Dataset dataset = HdfFile(*store, std::string(file)).dataset(name);
    return store_of(std::move(store), std::move(dataset), path);
  }
  std::string tell(const store::Store& view) const override {
    return packed(dynamic_cast<const DatasetStore&>(view).dataset());
  }
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override {
    const Dataset& dataset = dynamic_cast<DatasetStore&>(store).dataset();
    Content found{dataset.type, 0, dataset.chunk};
    found.packed = !dataset.filters.empty();
    found.fill = dataset.fill;
    found.attributes = dataset.attributes;
    check_told(found, path, options);
    return found;
  }
  void check_changeable(store::Store& view) const override {
    if (const std::string why = dynamic_cast<const DatasetStore&>(view).refuses_writes(); !why.empty()) refuse(why);
    if (auto* changed = dynamic_cast<ChangedDataset*>(&view)) changed->prepare();
  }
  bool keeps_changes(const store::Store& view) const override {
    const auto* changed = dynamic_cast<const ChangedDataset*>(&view);
    return changed != nullptr && changed->is_changed();
  }
  void commit_changes(store::Store& view) const override { dynamic_cast<ChangedDataset&>(view).commit(); }
  void prepare_attributes(store::Store& view, const std::string& path) const override {
    auto* changed = dynamic_cast<ChangedDataset*>(&view);
    if (changed != nullptr && changed->is_changed()) return changed->check_alone();
    (void)lock_for_attributes(dynamic_cast<DatasetStore&>(view).file(), std::string(array_name(path).file));
  }
  void change_attributes(store::Store& view, const std::string& path, const AttributeChanges& changes) const override {
    auto& dataset = dynamic_cast<DatasetStore&>(view);
    change_stored_attributes(dataset.file(), std::string(array_name(path).file), dataset.dataset().path, changes);
  }
  bool changes_attributes(const store::Store& view) const override {
    return dynamic_cast<const DatasetStore*>(&view) != nullptr;
  }
  bool keeps_chunks() const override { return true; }
  /// What is known of chunks while they are written is in the file only at its end.
  bool keeps_unfinished() const override { return false; }
  NewContent create(const std::string& path, const FileOptions& options) const override {
    NewContent made = new_content(path, options);
    NewFile file = make_file({std::string(array_name(path).file), made.members, options.groups, is_netcdf_name(path)});
    assign_offsets(made, static_cast<std::int64_t>(file.head.size()));
    for (std::size_t i = 0; i < made.members.size(); ++i) {
      Member& one = made.members[i];
      one.told_at = file.told_at[i];
      if (one.content.chunk.empty() && one.content.data_offset != 0)
        put_number(file.head, one.told_at, static_cast<std::uint64_t>(one.content.data_offset));
    }
    put_number(file.head, length_told_in(file.head, path), static_cast<std::uint64_t>(made.file_bytes));
    write_filled_scalars(made, file.head);
    made.head = std::move(file.head);
    return made;
  }
  std::shared_ptr<store::Store> view_of_new(std::shared_ptr<store::Store> store,
                                            const NewContent& made) const override {
    std::vector<NewDataset> chunked = chunked_in(made);
    if (chunked.empty()) return store;
    return std::make_shared<NewChunks>(std::move(store), std::move(chunked), made.file_bytes);
  }
  bool shares(const NewContent& made) const override { return std::ranges::any_of(made.members, comes_later); }
  void share(store::Store& view, std::unique_ptr<transport::Counter> counter, bool alone) const override {
    if (auto* changed = dynamic_cast<ChangedDataset*>(&view)) return changed->share(std::move(counter), alone);
    dynamic_cast<NewChunks&>(view).share(std::move(counter), alone);
  }
  bool seals() const override { return true; }
  void seal(store::Store& store, const NewContent& made) const override {
    if (auto* chunks = dynamic_cast<NewChunks*>(&store)) chunks->finish(length_told_in(made.head, store.name()));
  }
  std::string tell_new(const NewContent& made) const override {
    std::string told = text(made.file_bytes, ' ');
    for (const Member& one : made.members) base::append_parts(told, one.content.data_offset, ' ');
    return told;
  }
  NewContent told_new(const std::string& path, const FileOptions& options, std::string_view told) const override {
    NewContent made = new_content(path, options);
    base::TextReader in{std::string(told)};
    in >> made.file_bytes;
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
  const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
  for (std::size_t at = 0; at < text.size(); at = at == 0 ? kSmallestUserBlock : 2 * at)
    if (text.substr(at).starts_with(kSignature)) return true;
  return false;
}

bool begins_later(store::Store& store) {
  constexpr std::size_t kMostPositions = 64;
  std::array<std::array<std::byte, kSignature.size()>, kMostPositions> found{};
  std::vector<store::ReadSegment> segments;
  constexpr auto kBytes = static_cast<std::int64_t>(kSignature.size());
  const std::int64_t size = store.size();
  for (std::int64_t at = kFrontBytes - kBytes; at <= (size - kBytes) / 2;) {
    at *= 2;
    segments.push_back({at, found[segments.size()].data(), kBytes});
  }
  store.read(segments);
  return std::ranges::any_of(std::span(found).first(segments.size()), [](const auto& bytes) { return is_hdf5(bytes); });
}

}  // namespace plait::container::hdf5
