#include "container/registry.hpp"

#include <algorithm>
#include <array>

#include "container/npy/container.hpp"
#include "container/raw/container.hpp"

namespace plait::container {

std::span<const Container* const> containers() {
  static const Container* const kContainers[] = {
      &npy::container(),
      &raw::container(),
  };
  return kContainers;
}

const Container& container_named(std::string_view path) {
  return **std::ranges::find_if(containers(), [&](const Container* one) { return one->claims(path); });
}

const Container& container_in(store::Store& store) {
  std::array<std::byte, kFrontBytes> room{};
  const auto length = std::min<std::int64_t>(store.size(), room.size());
  store.read({{0, room.data(), length}});
  const std::span front(room.data(), static_cast<std::size_t>(length));
  return **std::ranges::find_if(containers(), [&](const Container* one) { return one->begins(front); });
}

}  // namespace plait::container
