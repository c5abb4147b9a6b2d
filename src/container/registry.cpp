#include "container/registry.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "container/gzip/container.hpp"
#include "container/hdf5/container.hpp"
#include "container/netcdf/container.hpp"
#include "container/npy/container.hpp"
#include "container/npz/container.hpp"
#include "container/raw/container.hpp"
#include "container/safetensors/container.hpp"
#include "container/zarr/container.hpp"

namespace plait::container {

namespace {

std::vector<const Container*>& list() {
  static std::vector<const Container*> list = [] {
    std::vector<const Container*> all{&npy::container(), &gzip::container(), &npz::container()};
    all.insert(all.end(), hdf5::containers().begin(), hdf5::containers().end());
    all.insert(all.end(), {&netcdf::container(), &safetensors::container(), &zarr::container(), &raw::container()});
    return all;
  }();
  return list;
}

/// What a store begins with.
struct Front {
  std::array<std::byte, kFrontBytes> room{};
  std::size_t length = 0;

  explicit Front(store::Store& store) {
    const auto bytes = std::min<std::int64_t>(store.size(), kFrontBytes);
    store.read({{0, room.data(), bytes}});
    length = static_cast<std::size_t>(bytes);
  }
  std::span<const std::byte> bytes() const { return std::span(room).first(length); }
};

}  // namespace

std::span<const Container* const> containers() { return list(); }

AddedContainer::AddedContainer(const Container& container) { list().insert(list().begin(), &container); }
AddedContainer::~AddedContainer() { list().erase(list().begin()); }

ArrayName array_name(std::string_view name) {
  for (std::size_t at = name.find("::"); at != std::string_view::npos; at = name.find("::", at + 1)) {
    const std::string_view file = name.substr(0, at);
    for (const Container* one : containers())
      if (one->names_arrays() && file.ends_with(one->suffix())) return {file, name.substr(at + 2)};
  }
  // A folder may have slashes behind its name.
  std::string_view folder = name;
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  for (const Container* one : containers())
    if (folder.size() < name.size() && one->in_folder() && folder.ends_with(one->suffix()))
      return {folder, std::nullopt};
  return {name, std::nullopt};
}

const Container& container_named(std::string_view name) {
  const std::string_view path = array_name(name).file;
  return **std::ranges::find_if(containers(), [&](const Container* one) { return path.ends_with(one->suffix()); });
}

const Container* container_misspelled(std::string_view path) {
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  for (const Container* one : containers()) {
    const std::string_view suffix = one->suffix();
    const std::string_view end = path.substr(path.size() - std::min(path.size(), suffix.size()));
    if (end != suffix && std::ranges::equal(end, suffix, same)) return one;
  }
  return nullptr;
}

bool begins_as(const Container& container, store::Store& store) { return container.begins(Front(store).bytes()); }

const Container* container_in(store::Store& store) {
  const Front front(store);
  const auto begins = [&](const Container* one) { return one->begins(front.bytes()); };
  const auto found = std::ranges::find_if(containers(), begins);
  return found == containers().end() ? nullptr : *found;
}

}  // namespace plait::container
