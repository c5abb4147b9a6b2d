// Opens names without a prefix: a file, a folder with a metadata file (such as a Zarr array), or an array in a zip
// file.

#include "driver/plain/plain_driver.hpp"

#include <cerrno>
#include <filesystem>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/foreign.hpp"
#include "container/format_registry.hpp"
#include "container/raw/raw_format.hpp"
#include "driver/plain/new_file.hpp"
#include "driver/plain/new_folder.hpp"
#include "plait/error.hpp"
#include "store/objects/object_bytes.hpp"
#include "store/posix/posix_store.hpp"
#include "store/url.hpp"
#include "store/zip/archive.hpp"

namespace plait::driver::plain {

namespace {

using store::posix::PosixStore;

PosixStore::Access to_access(bool writable) {
  return writable ? PosixStore::Access::kReadWrite : PosixStore::Access::kRead;
}

/// Returns the file of a name, without the name of an array in it.
std::string file_path(const std::string& name) {
  return store::is_raw(name) ? store::ordinary_path(name) : std::string(container::array_name(name).file);
}

/// Returns the existing file that describes the content: the file itself, or a metadata file in a folder.
std::string metadata_path(const std::string& name) {
  if (store::is_raw(name)) return store::ordinary_path(name);
  const container::ArrayName parts = container::array_name(name);
  std::error_code error;
  const bool may_be_archive = container::may_be_archive(container::format_named(name));
  if (std::filesystem::is_regular_file(std::string(parts.file), error) &&
      !(may_be_archive && store::zip::is_archive(std::string(parts.file))))
    return std::string(parts.file);
  const container::FolderFormat* const folder = container::format_at(name).folder();
  return folder != nullptr
             ? folder->locate_metadata(parts.file, parts.array, container::MetadataCopies::kIgnored).location
             : std::string(parts.file);
}

/// Opens the file of a name that cannot be a folder or an archive. This saves a stat() of the path, which would
/// distinguish files from folders. Returns nullptr for other names, and if the file cannot be opened:
/// PlainDriver::find() then reports the reason.
std::unique_ptr<PosixStore> open_directly(const std::string& name, bool writable) {
  if (store::is_raw(name) || container::may_be_archive(container::format_named(name))) return nullptr;
  try {
    return std::make_unique<PosixStore>(file_path(name), to_access(writable));
  } catch (const Error&) {
    return nullptr;
  }
}

/// Returns an open file with its location, by which other ranks open it.
store::OpenLocation to_open_location(std::unique_ptr<PosixStore> opened) {
  store::Location location{std::filesystem::absolute(opened->name()).string(), {}, {opened->opened_identity()}};
  return {std::move(location), std::move(opened)};
}

/// Opens the metadata of an array or group in a zip file.
store::OpenLocation find_in_archive(const std::string& name, const std::string& path, bool writable) {
  if (writable)
    base::throw_system_error(EROFS, "cannot write ", name,
                             ": it is in a zip file, which Plait only reads; copy it to "
                             "a folder first");
  auto opened = std::make_unique<store::ObjectBytes>(path);
  try {
    (void)opened->size();
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
    base::throw_system_error(ENOENT, "cannot open ", name, ": the zip file has no array or group of this name; ",
                             "plait.arrays_in() lists the arrays that it has");
  }
  return {{std::filesystem::absolute(path).string(), {}, {}}, std::move(opened)};
}

/// Returns true if a path leads into a zip file, such as `a.zip/b`. error: the error of opening the path.
bool is_in_archive(const Error& error, const std::string& path) {
  if (error.system_code() != ENOTDIR) return false;
  const std::string archive = store::zip::archive_path(path);
  return !archive.empty() && archive.size() < path.size();
}

/// Reports that a folder has the format of another library, if that can be recognized.
[[noreturn]] void report_folder_format(const Error& error, const std::string& path) {
  const std::string_view format = container::foreign_folder(path);
  if (format.empty()) throw error;
  base::rethrow(error, error.what(), ". Its content is of the format ", format,
                ", which Plait does not read; use a library for that format");
}

/// Reports a missing file `FILE::NAME`, with the reason if FILE exists but its format does not name arrays.
[[noreturn]] void report_missing_file(const Error& error, const std::string& name) {
  const std::string path = name.substr(0, name.find("::"));
  std::error_code ignored;
  if (store::is_raw(name) || path.size() == name.size() || std::filesystem::is_directory(path, ignored)) throw error;
  const PosixStore file(path, PosixStore::Access::kRead);  // throws if this file is missing as well
  container::check_content(path, container::format_at(path));
  base::throw_argument_error(name, ": the file holds ", container::format_at(path).traits().kind,
                             ", no arrays under names; leave out ::", name.substr(path.size() + 2));
}

/// Returns true if the file is the metadata file of its folder.
bool is_folder_metadata(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const container::Format* const format = container::find_folder_format(folder);
  return format != nullptr &&
         format->folder()->locate_metadata(folder, std::nullopt, container::MetadataCopies::kIgnored).location == path;
}

/// The driver of names without a prefix, and of `raw:NAME`.
class PlainDriver : public FileDriver {
 public:
  PlainDriver(std::string_view prefix, Contents contents) : prefix_(prefix), contents_(contents) {}

  std::string_view prefix() const override { return prefix_; }
  Contents contents() const override { return contents_; }

  store::OpenLocation find(const std::string& name, bool writable) const override {
    if (auto opened = open_directly(name, writable)) return to_open_location(std::move(opened));
    const std::string path = metadata_path(name);
    try {
      return to_open_location(std::make_unique<PosixStore>(path, to_access(writable)));
    } catch (const Error& error) {
      if (is_in_archive(error, path)) return find_in_archive(name, path, writable);
      if (error.system_code() == EISDIR) report_folder_format(error, path);
      if (error.system_code() == ENOENT) report_missing_file(error, name);
      throw;
    }
  }
  std::unique_ptr<store::Store> open(const store::Location& location, bool writable) const override {
    try {
      auto opened = std::make_unique<PosixStore>(location.path, to_access(writable));
      store::expect_same_files(location, {opened->opened_identity()}, location.path);
      return opened;
    } catch (const Error& error) {
      if (is_in_archive(error, location.path)) return std::make_unique<store::ObjectBytes>(location.path);
      throw;
    }
  }
  bool is_replaced(const std::string& name, const store::Location& opened) const override {
    // Changes of an array replace the metadata file of its folder, which the format checks itself.
    if (!store::is_raw(name) && is_folder_metadata(opened.path)) return false;
    const PosixStore current(opened.path, PosixStore::Access::kRead);
    return !store::may_be_same_files(opened, {current.identity()});
  }
  std::unique_ptr<store::NewFile> create(const std::string& name, const store::NewFileOptions& options) const override {
    if (!store::is_raw(name)) {
      const container::ArrayName parts = container::array_name(name);
      const container::Format& format = container::format_named(name);
      if (format.folder() != nullptr) return make_new_folder(*format.folder(), parts.file, parts.array, options);
    }
    return make_new_file(file_path(name), options);
  }
  ResolvedName locate(const std::string& name) const override {
    const bool by_name = contents_ == Contents::kByName;
    return plain::locate(name, by_name ? container::format_named(name) : container::raw::format());
  }

 private:
  std::string_view prefix_;
  Contents contents_;
};

}  // namespace

ResolvedName describe(const std::string& name, const container::Format& format) {
  const bool by_name = !store::is_raw(name);  // `raw:` states that the content has no format
  const container::ArrayName parts = container::array_name(name);
  const std::string path = file_path(name);
  const container::FormatTraits& traits = format.traits();
  ResolvedName resolved;
  resolved.kind = traits.kind;
  if (by_name) resolved.format = traits.name;
  const std::string format_prefix =
      parts.format == nullptr ? std::string() : base::text(parts.format->traits().name, ':');
  resolved.file = by_name ? format_prefix + path : name;
  resolved.name = by_name && !parts.array ? resolved.file : name;
  resolved.states_type = traits.states_type;
  resolved.has_chunks = by_name && traits.has_chunks;
  resolved.adds_arrays = by_name && format.folder() != nullptr;
  resolved.names_arrays = by_name && traits.names_arrays;
  resolved.supports_unfinished = !by_name || traits.supports_unfinished;
  resolved.copies_objects = by_name && traits.copies_objects;
  resolved.only_order = by_name ? traits.only_order : std::nullopt;
  return resolved;
}

ResolvedName locate(const std::string& name, const container::Format& format) {
  ResolvedName resolved = describe(name, format);
  const std::string path = file_path(name);
  const container::ArrayName parts = container::array_name(name);
  // Each array in a folder has its own path, so that two arrays are not mistaken for the same file.
  if (!store::is_raw(name) && format.folder() != nullptr && parts.array)
    resolved.path =
        real_path(std::filesystem::path(
                      format.folder()->locate_metadata(path, parts.array, container::MetadataCopies::kIgnored).location)
                      .parent_path()
                      .string());
  else
    resolved.path = real_path(path);
  return resolved;
}

const FileDriver& driver() {
  static const PlainDriver kDriver("", Contents::kByName);
  return kDriver;
}

const FileDriver& raw_driver() {
  static const PlainDriver kDriver(store::kRaw, Contents::kRaw);
  return kDriver;
}

}  // namespace plait::driver::plain
