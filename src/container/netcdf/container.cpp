#include "container/netcdf/container.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/container.hpp"
#include "container/hdf5/store.hpp"
#include "container/members.hpp"
#include "container/netcdf/header.hpp"
#include "container/part_store.hpp"
#include "container/registry.hpp"
#include "plait/error.hpp"

namespace plait::container::netcdf {

namespace {

std::vector<Member> members_of(std::vector<Variable>& variables) {
  std::vector<Member> members;
  members.reserve(variables.size());
  for (Variable& one : variables) members.push_back(std::move(one.member));
  return members;
}

const Container& netcdf4() { return *hdf5::containers().front(); }
bool is_netcdf4(const store::Store& view) { return dynamic_cast<const hdf5::DatasetStore*>(&view) != nullptr; }

/// Files that are netCDF-4 are HDF5 files, and read as such.
class NetCdf : public NamingContainer {
 public:
  std::string_view suffix() const override { return ".nc"; }
  std::string_view format() const override { return "netcdf"; }
  std::string kind() const override { return "a netCDF file"; }
  bool begins(std::span<const std::byte> front) const override {
    constexpr std::string_view kFront = "CDF";
    return front.size() > kFront.size() &&
           std::equal(kFront.begin(), kFront.end(), reinterpret_cast<const char*>(front.data())) &&
           (front[3] == std::byte{1} || front[3] == std::byte{2} || front[3] == std::byte{5});
  }
  bool recognizes(store::Store& store, std::span<const std::byte> front) const override {
    return begins(front) || netcdf4().recognizes(store, front);
  }
  std::vector<Member> list(store::Store& store, const std::string& file) const override {
    if (holds_hdf5(store)) return netcdf4().list(store, file);
    std::vector<Variable> variables = read_header(store, file).variables;
    return members_of(variables);
  }
  std::vector<GroupAttributes> groups(store::Store& store, const std::string& file) const override {
    if (holds_hdf5(store)) return netcdf4().groups(store, file);
    Header header = read_header(store, file);
    return {{{}, std::move(header.attributes), std::move(header.dimensions)}};
  }
  std::string refused_attribute(const std::string& path, const ArrayAttribute& attribute,
                                bool of_group) const override {
    return netcdf4().refused_attribute(path, attribute, of_group);
  }
  std::vector<Member> list_named(store::Store& store, const std::string& path) const override {
    return holds_hdf5(store) ? netcdf4().list_named(store, path) : NamingContainer::list_named(store, path);
  }
  /// Records with those of other variables between them, as one array.
  std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, const std::string& path,
                                     std::string_view told) const override;
  std::string tell(const store::Store& view) const override {
    if (is_netcdf4(view)) return netcdf4().tell(view);
    const auto* part = dynamic_cast<const PartStore*>(&view);
    return part == nullptr ? "whole" : part->rows().to_text();
  }
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override {
    if (is_netcdf4(store)) return netcdf4().inspect(store, path, options);
    auto* part = dynamic_cast<PartStore*>(&store);
    Content found = NamingContainer::inspect(part == nullptr ? store : part->whole(), path, options);
    if (part != nullptr) found.data_offset = 0;
    return found;
  }
  // New files are netCDF-4.
  bool keeps_chunks() const override { return netcdf4().keeps_chunks(); }
  bool keeps_unfinished() const override { return netcdf4().keeps_unfinished(); }
  std::optional<Order> only_order() const override { return netcdf4().only_order(); }
  NewContent create(const std::string& path, const FileOptions& options) const override {
    return netcdf4().create(path, options);
  }
  std::string tell_new(const NewContent& made) const override { return netcdf4().tell_new(made); }
  NewContent told_new(const std::string& path, const FileOptions& options, std::string_view told) const override {
    return netcdf4().told_new(path, options, told);
  }
  std::shared_ptr<store::Store> view_of_new(std::shared_ptr<store::Store> store,
                                            const NewContent& made) const override {
    return netcdf4().view_of_new(std::move(store), made);
  }
  bool shares(const NewContent& made) const override { return netcdf4().shares(made); }
  void share(store::Store& view, std::unique_ptr<transport::Counter> counter, bool alone) const override {
    netcdf4().share(view, std::move(counter), alone);
  }
  bool seals() const override { return netcdf4().seals(); }
  void seal(store::Store& store, const NewContent& made) const override { netcdf4().seal(store, made); }
  void check_changeable(store::Store& view) const override {
    if (is_netcdf4(view)) netcdf4().check_changeable(view);
  }
  bool keeps_changes(const store::Store& view) const override { return netcdf4().keeps_changes(view); }
  void commit_changes(store::Store& view) const override { netcdf4().commit_changes(view); }
  bool changes_attributes(const store::Store& view) const override { return netcdf4().changes_attributes(view); }
  void change_attributes(store::Store& view, const std::string& path, const AttributeChanges& changes) const override {
    netcdf4().change_attributes(view, path, changes);
  }

 private:
  /// True if the file is netCDF-4.  Searches for user blocks only in files that are not classic netCDF.
  bool holds_hdf5(store::Store& store) const {
    const Front front(store);
    return !begins(front.bytes()) && netcdf4().recognizes(store, front.bytes());
  }
};

std::shared_ptr<store::Store> NetCdf::view(std::shared_ptr<store::Store> store, const std::string& path,
                                           std::string_view told) const {
  if (holds_hdf5(*store)) return netcdf4().view(std::move(store), path, told);
  const auto part = [&](const Rows& rows) { return std::make_shared<PartStore>(store, rows, path); };
  if (!told.empty()) return told == "whole" ? store : part(Rows::parse(told));
  const std::string file(array_name(path).file);
  std::vector<Variable> variables = read_header(*store, file).variables;
  const std::vector<Member> members = members_of(variables);
  const Rows& rows = variables[static_cast<std::size_t>(&chosen(members, path) - members.data())].rows;
  if (rows.count == 1) return store;
  const std::int64_t end = rows.begin + (rows.count - 1) * rows.stride + rows.row;
  if (end > store->size())
    throw Error(ErrorKind::kSystem,
                base::text(path, " ends at byte ", end, " with record ", rows.count, ", but ", file, " has only ",
                           store->size(), " bytes; it has been truncated"),
                EIO);
  return part(rows);
}

}  // namespace

const Container& container() {
  static const NetCdf kContainer;
  return kContainer;
}

}  // namespace plait::container::netcdf
