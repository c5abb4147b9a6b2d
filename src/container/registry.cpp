#include "container/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "container/gzip/container.hpp"
#include "container/hdf5/container.hpp"
#include "container/netcdf/container.hpp"
#include "container/npy/container.hpp"
#include "container/npz/container.hpp"
#include "container/raw/container.hpp"
#include "container/safetensors/container.hpp"
#include "container/zarr/container.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"

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

/// In letters of any case.
bool ends_with(std::string_view path, std::string_view suffix) {
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  return path.size() >= suffix.size() && std::ranges::equal(path.substr(path.size() - suffix.size()), suffix, same);
}

/// Returns the first format that meets a condition; nullptr if none does.
template <typename Condition>
const Container* container_with(const Condition& condition) {
  const auto found = std::ranges::find_if(containers(), [&](const Container* one) { return condition(*one); });
  return found == containers().end() ? nullptr : *found;
}

const Container* by_ending(std::string_view path) {
  return *std::ranges::find_if(containers(), [&](const Container* one) { return ends_with(path, one->suffix()); });
}

/// By the ending of a file's name.
bool names_arrays(std::string_view file) {
  return std::ranges::any_of(
      containers(), [&](const Container* one) { return one->names_arrays() && ends_with(file, one->suffix()); });
}

/// The format that a name states in front, `FORMAT:NAME`; nullptr: none.
const Container* stated_format(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || name.substr(colon).starts_with("::") || name.substr(colon).starts_with("://"))
    return nullptr;
  for (const Container* one : containers())
    if (!one->format().empty() && one->format() == name.substr(0, colon)) return one;
  return nullptr;
}

/// Returns the format of an existing file or folder; nullptr if it cannot be read, or is a folder of no format.
const Container* container_at_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return container_in_folder(path);
  if (!std::filesystem::is_regular_file(status)) return nullptr;
  try {
    store::posix::PosixStore store(path, store::posix::PosixStore::Access::kRead);
    return &container_of(path, store);
  } catch (const Error&) {  // opening it reports why
    return nullptr;
  }
}

/// By the content of a file.  name: the whole name, which may be that of a file as well.
bool holds_named_arrays(std::string_view name, std::string_view file) {
  std::error_code error;
  if (file.empty() || std::filesystem::exists(std::filesystem::path(name), error)) return false;
  const Container* const found = container_at_path(std::string(file));
  return found != nullptr && found->names_arrays();
}

}  // namespace

std::span<const Container* const> containers() { return list(); }

AddedContainer::AddedContainer(const Container& container) { list().insert(list().begin(), &container); }
AddedContainer::~AddedContainer() { list().erase(list().begin()); }

ArrayName array_name(std::string_view name) {
  const Container* const format = stated_format(name);
  if (format != nullptr) name.remove_prefix(format->format().size() + 1);
  for (std::size_t at = name.find("::"); at != std::string_view::npos; at = name.find("::", at + 1)) {
    const std::string_view file = name.substr(0, at);
    if (format != nullptr ? format->names_arrays() : names_arrays(file) || holds_named_arrays(name, file))
      return {file, name.substr(at + 2), format};
  }
  // A folder may have slashes behind its name.
  std::string_view folder = name;
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.size() < name.size() && (format != nullptr ? format : by_ending(folder))->in_folder())
    return {folder, std::nullopt, format};
  return {name, std::nullopt, format};
}

const Container& container_named(std::string_view name) {
  const ArrayName parts = array_name(name);
  return parts.format != nullptr ? *parts.format : *by_ending(parts.file);
}

const Container* container_in(store::Store& store) {
  const Front front(store);
  return container_with([&](const Container& one) { return one.begins(front.bytes()); });
}

const Container* container_in_folder(const std::string& folder) {
  std::error_code error;
  return container_with([&](const Container& one) {
    return one.in_folder() && std::filesystem::exists(one.file_of(folder, std::nullopt), error);
  });
}

const Container& container_of(std::string_view name, store::Store& store) {
  const ArrayName parts = array_name(name);
  const Container& named = container_named(name);
  if (parts.format != nullptr) return named;
  const std::filesystem::path path(parts.file);
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    if (const Container* const folder = container_in_folder(path.string()); folder != nullptr) return *folder;
  const Front front(store);
  if (named.recognizes(store, front.bytes())) return named;
  const Container* found = container_with([&](const Container& one) { return one.begins(front.bytes()); });
  if (found == nullptr)
    found = container_with([&](const Container& one) { return one.recognizes(store, front.bytes()); });
  // Raw elements have no signature, packed or not: their name says what they are.
  return found != nullptr && found->tells() ? *found : named;
}

const Container& container_at(std::string_view name) {
  const ArrayName parts = array_name(name);
  if (parts.format == nullptr)
    if (const Container* const found = container_at_path(std::string(parts.file)); found != nullptr) return *found;
  return container_named(name);
}

Front::Front(store::Store& store) {
  const auto bytes = std::min<std::int64_t>(store.size(), kFrontBytes);
  store.read({{0, room_.data(), bytes}});
  length_ = static_cast<std::size_t>(bytes);
}

bool begins_as(const Container& container, store::Store& store) { return container.begins(Front(store).bytes()); }

}  // namespace plait::container
