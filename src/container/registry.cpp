#include "container/registry.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "container/gzip/container.hpp"
#include "container/netcdf/container.hpp"
#include "container/npy/container.hpp"
#include "container/npz/container.hpp"
#include "container/raw/container.hpp"
#include "container/safetensors/container.hpp"
#include "container/zarr/container.hpp"

namespace plait::container {

namespace {

std::vector<const Container*>& list() {
  static std::vector<const Container*> list{
      &npy::container(),         &gzip::container(), &npz::container(), &netcdf::container(),
      &safetensors::container(), &zarr::container(), &raw::container(),
  };
  return list;
}

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

const Container* container_in(store::Store& store) {
  std::array<std::byte, kFrontBytes> room{};
  const auto length = std::min<std::int64_t>(store.size(), room.size());
  store.read({{0, room.data(), length}});
  const std::span front(room.data(), static_cast<std::size_t>(length));
  const auto found = std::ranges::find_if(containers(), [&](const Container* one) { return one->begins(front); });
  return found == containers().end() ? nullptr : *found;
}

}  // namespace plait::container
