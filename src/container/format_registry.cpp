// Finding the format of a file from its name and content.
//
// A prefix of the name decides, as in `npy:data`. Otherwise the format of the suffix is tried first, because it may
// search for signatures that the first bytes do not contain, then all formats in the order of the list. If none
// recognizes the content, the suffix decides, and a file with an unknown suffix holds raw elements. For a new file only
// the prefix and the suffix count.
//
// Example: `data.h5` contains a .npy file. The suffix is that of HDF5, which does not recognize the content, but .npy
// does: the file is opened as .npy.

#include "container/format_registry.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "container/gzip/gzip_format.hpp"
#include "container/hdf5/hdf5_format.hpp"
#include "container/netcdf/netcdf_format.hpp"
#include "container/npy/npy_format.hpp"
#include "container/npz/npz_format.hpp"
#include "container/raw/raw_format.hpp"
#include "container/safetensors/safetensors_format.hpp"
#include "container/zarr/zarr_format.hpp"
#include "plait/error.hpp"
#include "store/objects/object_ranges.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"
#include "store/posix/posix_store.hpp"
#include "store/zip/archive.hpp"

namespace plait::container {

namespace {

/// Returns the list of formats, which AddedFormat changes.
std::vector<const Format*>& format_list() {
  static std::vector<const Format*> list = [] {
    std::vector<const Format*> all{&npy::format(), &gzip::format(), &npz::format()};
    // If two formats have the same name or suffix, new files have the first one.
    all.insert(all.end(), hdf5::formats().begin(), hdf5::formats().end());
    all.insert(all.end(), {&netcdf::format(), &safetensors::format()});
    all.insert(all.end(), zarr::formats().begin(), zarr::formats().end());
    all.push_back(&raw::format());
    return all;
  }();
  return list;
}

/// Compares the end of a path with a suffix, ignoring case.
bool ends_with(std::string_view path, std::string_view suffix) {
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  return path.size() >= suffix.size() && std::ranges::equal(path.substr(path.size() - suffix.size()), suffix, same);
}

/// Returns the first format that meets a condition; nullptr if none does.
template <typename Condition>
const Format* find_format_if(const Condition& condition) {
  const auto found = std::ranges::find_if(formats(), [&](const Format* format) { return condition(*format); });
  return found == formats().end() ? nullptr : *found;
}

/// Returns the first format with the suffix of a path. There always is one, because raw elements have an empty suffix.
const Format* find_by_suffix(std::string_view path) {
  return *std::ranges::find_if(formats(),
                               [&](const Format* format) { return ends_with(path, format->traits().suffix); });
}

/// Returns true if the suffix of a file is that of a format with names for its arrays.
bool names_arrays(std::string_view file) {
  return std::ranges::any_of(formats(), [&](const Format* format) {
    return format->traits().names_arrays && ends_with(file, format->traits().suffix);
  });
}

/// Returns the format that the prefix of a name states, `FORMAT:NAME`; nullptr if there is none.
const Format* stated_format(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || name.substr(colon).starts_with("::") || name.substr(colon).starts_with("://"))
    return nullptr;
  for (const Format* format : formats())
    if (!format->traits().name.empty() && format->traits().name == name.substr(0, colon)) return format;
  return nullptr;
}

/// Returns the format of the content of a store, among the formats with the same name as `named`, such as the two
/// versions of Zarr; the last of these formats if none recognizes the content.
const Format& detect_variant(store::Store& store, const Format& named, const FileHeader& header) {
  if (named.recognizes(store, header.bytes())) return named;
  const Format* last = &named;
  for (const Format* format : formats()) {
    if (named.traits().name.empty() || format->traits().name != named.traits().name) continue;
    if (format->recognizes(store, header.bytes())) return *format;
    last = format;
  }
  return *last;
}

/// Returns the format of the object or folder at a URL; nullptr if there is none.
const Format* format_at_url(const std::string& url) {
  const bool whole_objects = store::object_store_kind(url).whole_objects;
  (void)store::parse_object_url(url);  // throws if the URL is invalid
  const Format& named = *find_by_suffix(url);
  const bool may_be_folder = !whole_objects || named.folder() != nullptr || named.traits().suffix.empty();
  if (const Format* const folder = may_be_folder ? find_folder_format(url) : nullptr; folder != nullptr) return folder;
  if (!whole_objects || named.folder() != nullptr) return nullptr;
  try {
    store::ObjectRanges store(url);
    return &detect_format(url, store);
  } catch (const Error&) {  // opening the object reports the reason
    return nullptr;
  }
}

/// Returns the format of an existing file or folder; nullptr if it cannot be read, or is a folder of no format.
/// stated: the format that the name states; nullptr if there is none.
const Format* format_at_path(const std::string& path, const Format* stated = nullptr) {
  if (store::is_url(path)) return stated != nullptr ? stated : format_at_url(path);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return stated != nullptr ? stated : find_folder_format(path);
  if (!std::filesystem::is_regular_file(status)) return nullptr;
  try {
    store::posix::PosixStore store(path, store::posix::PosixStore::Access::kRead);
    return stated != nullptr ? &detect_variant(store, *stated, FileHeader(store)) : &detect_format(path, store);
  } catch (const Error&) {  // opening the file reports the reason
    return nullptr;
  }
}

/// Returns true if the content of `file` has named arrays, and no file has the whole name `name`, such as `a::b`.
bool holds_named_arrays(std::string_view name, std::string_view file) {
  std::error_code error;
  if (file.empty() || (!store::is_url(name) && std::filesystem::exists(std::filesystem::path(name), error)))
    return false;
  const Format* const found = format_at_path(std::string(file));
  return found != nullptr && found->traits().names_arrays;
}

}  // namespace

std::span<const Format* const> formats() { return format_list(); }

AddedFormat::AddedFormat(const Format& format) { format_list().insert(format_list().begin(), &format); }
AddedFormat::~AddedFormat() { format_list().erase(format_list().begin()); }

ArrayName array_name(std::string_view name) {
  const Format* const format = stated_format(name);
  if (format != nullptr) name.remove_prefix(format->traits().name.size() + 1);
  // A bucket, or the address of a host such as [::1], may contain colons.
  const std::size_t begin = store::is_url(name) ? name.find('/', name.find("://") + 3) : 0;
  for (std::size_t colons = name.find("::", begin); colons != std::string_view::npos;
       colons = name.find("::", colons + 1)) {
    const std::string_view file = name.substr(0, colons);
    if (format != nullptr ? format->traits().names_arrays : names_arrays(file) || holds_named_arrays(name, file))
      return {file, name.substr(colons + 2), format};
  }
  // The name of a folder may end with slashes.
  std::string_view folder = name;
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.size() < name.size() && (format != nullptr ? format : find_by_suffix(folder))->folder() != nullptr)
    return {folder, std::nullopt, format};
  return {name, std::nullopt, format};
}

const Format& format_named(std::string_view name) {
  const ArrayName parts = array_name(name);
  return parts.format != nullptr ? *parts.format : *find_by_suffix(parts.file);
}

const Format* find_format_by_content(store::Store& store) {
  const FileHeader header(store);
  return find_format_if([&](const Format& format) { return format.has_signature(header.bytes()); });
}

const Format* find_folder_format(const std::string& folder) {
  std::optional<std::string_view> examined;  // formats of one suffix recognize the same folders
  return find_format_if([&](const Format& format) {
    if (format.folder() == nullptr || format.traits().suffix == examined) return false;
    examined = format.traits().suffix;
    return format.folder()->locate_metadata(folder, std::nullopt, MetadataCopies::kIgnored).exists;
  });
}

bool may_be_archive(const Format& named) { return named.folder() != nullptr || !named.traits().states_type; }

const Format& detect_format(std::string_view name, store::Store& store) {
  std::optional<FileHeader> header;
  return detect_format(name, store, header);
}

const Format& detect_format(std::string_view name, store::Store& store, std::optional<FileHeader>& read_header) {
  const ArrayName parts = array_name(name);
  const Format& named = parts.format != nullptr ? *parts.format : *find_by_suffix(parts.file);
  if (parts.format != nullptr) return detect_variant(store, named, read_header.emplace(store));
  const std::string path(parts.file);
  std::error_code error;
  if (store::is_url(path) && named.folder() != nullptr) return named;
  // The store of a file or object has its name. The store of a folder has the name of the metadata file in it.
  const bool is_file = store.name() == path;
  const bool is_object = store::is_url(path) && is_file;
  if ((store::is_url(path) && !is_object) || (!is_file && std::filesystem::is_directory(path, error)) ||
      (!is_object && may_be_archive(named) && store::zip::is_archive(path)))
    if (const Format* const folder = find_folder_format(path); folder != nullptr) return *folder;
  const FileHeader& header = read_header.emplace(store);
  if (named.recognizes(store, header.bytes())) return named;
  const Format* found = find_format_if([&](const Format& format) { return format.has_signature(header.bytes()); });
  if (found == nullptr)
    found = find_format_if([&](const Format& format) { return format.recognizes(store, header.bytes()); });
  // Only a name, such as `data.gz`, can state that a file has raw or gzipped elements without a type: the signature of
  // gzip alone does not show that the content is elements.
  return found != nullptr && found->traits().states_type ? *found : detect_variant(store, named, header);
}

const Format& format_at(std::string_view name) {
  const ArrayName parts = array_name(name);
  const Format* const found = format_at_path(std::string(parts.file), parts.format);
  return found != nullptr ? *found : format_named(name);
}

FileHeader::FileHeader(store::Store& store) {
  const auto bytes = std::min<std::int64_t>(store.size(), kHeaderBytes);
  store.read({{0, bytes_.data(), bytes}});
  length_ = static_cast<std::size_t>(bytes);
}

bool store_has_signature(const Format& format, store::Store& store) {
  return format.has_signature(FileHeader(store).bytes());
}

}  // namespace plait::container
