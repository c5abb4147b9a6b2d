#include "driver/objects/objects_driver.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/gather.hpp"
#include "container/foreign.hpp"
#include "container/format_registry.hpp"
#include "driver/objects/new_object_file.hpp"
#include "driver/objects/spread_object.hpp"
#include "driver/plain/new_folder.hpp"
#include "driver/plain/plain_driver.hpp"
#include "store/objects/object_bytes.hpp"
#include "store/objects/object_ranges.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"
#include "store/url.hpp"
#include "store/zip/remote_archives.hpp"
#include "store/zip/zip_objects.hpp"

namespace plait::driver::objects {

namespace {

using Copies = container::MetadataCopies;

const store::ObjectStoreKind& find_kind(const std::string& name) {
  return store::object_store_kind(container::array_name(name).file);
}

[[noreturn]] void reject_format(const std::string& name, const container::Format& format) {
  const store::ObjectStoreKind& kind = find_kind(name);
  if (kind.whole_objects)
    base::throw_argument_error(name, ": the name is that of ", format.traits().kind,
                               ", which is one object, but in object stores Plait writes only Zarr; give a name that "
                               "ends with .zarr, put zarr: in front of the URL, or write a file and upload it");
  base::throw_argument_error(name, ": the name is that of ", format.traits().kind,
                             ", which is one object, but in object stores Plait reads and writes only Zarr; give a "
                             "name that ends with .zarr, put zarr: in front of the URL, or use a file");
}

/// Reports that a name does not exist, or that its file exists but has no such array.
/// errors  kSystem, ENOENT: always.
[[noreturn]] void throw_missing(const std::string& name, const container::FolderFormat* format) {
  const container::ArrayName parts = container::array_name(name);
  if (parts.array && format != nullptr && format->locate_metadata(parts.file, std::nullopt, Copies::kIgnored).exists)
    base::throw_system_error(ENOENT, "cannot open ", name, ": ", parts.file, " has no array or group of this name; ",
                             "plait.arrays_in() lists the arrays that it has");
  const std::string_view why = find_kind(name).missing;
  base::throw_system_error(ENOENT, "cannot open ", name, ": there is no Zarr array or group at ", parts.file,
                           why.empty() ? "" : " (", why, why.empty() ? "" : ")", "; check the name");
}

void check_writable(const std::string& name) {
  const store::ObjectStoreKind& kind = find_kind(name);
  if (kind.writable) return;
  base::throw_argument_error(name, ": objects of ", kind.scheme,
                             "://"
                             " are only read; write to a file or to an object store such as s3://");
}

/// Opens an array that is one object.
store::OpenLocation find_object(const std::string& name, bool writable) {
  if (writable)
    base::throw_argument_error(name,
                               ": it is one object, and objects are replaced as a whole; open it for reading, or "
                               "copy it into a file or a Zarr array, and change that");
  auto opened = std::make_unique<store::ObjectRanges>(std::string(container::array_name(name).file));
  return {{opened->name(), opened->details(), {}}, std::move(opened)};
}

/// Prefix of the details of a location in a zip file, which is followed by the encoded directory of that file.
constexpr std::string_view kInArchive = "zip ";

std::string file_url(const std::string& name) { return std::string(container::array_name(name).file); }

/// Opens the metadata of an array in a zip file. Its chunks are read from the same archive, even if the object is
/// replaced meanwhile.
std::unique_ptr<store::Store> open_in_archive(const std::string& metadata,
                                              std::shared_ptr<store::zip::Archive> archive) {
  auto folder = store::zip::open_objects(metadata.substr(0, metadata.rfind('/')), std::move(archive));
  return std::make_unique<store::ObjectBytes>(metadata, std::move(folder));
}

store::OpenLocation find_in_archive(const std::string& name, const std::shared_ptr<store::zip::Archive>& archive,
                                    const std::string& metadata, bool writable) {
  if (writable)
    base::throw_system_error(EROFS, "cannot write ", name, ": it is in the zip file ", archive->name(),
                             ", which Plait only reads; copy it to a Zarr array that is no zip file, and change that");
  return {{metadata, std::string(kInArchive) + store::zip::encode_remote(*archive), {}},
          open_in_archive(metadata, archive)};
}

/// Returns the URL of a new file that is one object, or an empty text for other formats. Rank 0 determines it, because
/// that may take requests, which can fail or have another result on another rank. Collective.
/// errors  The same on every rank.
std::string new_object_url(transport::Transport& transport, const std::string& name) {
  return collective::agree_on_text(transport, [&] {
    const bool is_object = transport.rank() == 0 && container::format_named(name).folder() == nullptr;
    return is_object ? file_url(name) : std::string();
  });
}

class ObjectsDriver : public FileDriver {
 public:
  std::string_view prefix() const override { return {}; }
  Contents contents() const override { return Contents::kByName; }
  std::unique_ptr<core::Source> open(Opening& opening) const override {
    if (opening.mode() != Mode::kWrite || !opening.call().transport().nodes_apart()) return FileDriver::open(opening);
    const std::string url = new_object_url(opening.call().transport(), opening.name());
    return url.empty() ? FileDriver::open(opening) : open_spread_object(opening, url);
  }
  void check_ranks(const std::string& name, const transport::Transport& transport) const override {
    const store::ObjectStoreKind& kind = find_kind(name);
    if (!kind.one_process || transport.size() == 1 || (transport.one_process() && !transport.nodes_apart())) return;
    base::throw_argument_error(name, ": the objects of ", kind.scheme,
                               ":// belong to one process, but these ranks are several; open it with ranks that are "
                               "threads of one process, with a communicator of one rank, or use a folder");
  }

  store::OpenLocation find(const std::string& name, bool writable) const override {
    if (writable) check_writable(name);
    // If the URL leads to a zip file, this reads its directory, which the calls below then use.
    if (find_kind(name).whole_objects) (void)store::zip::find_remote(file_url(name), store::zip::Validation::kNow);
    // If the suffix is that of a FolderFormat, format_at() and its requests for metadata are not needed.
    const container::Format& named = container::format_named(name);
    const bool is_object = named.folder() == nullptr && find_kind(name).whole_objects;
    if (is_object && !named.traits().suffix.empty()) return find_object(name, writable);
    const container::Format& format = named.folder() != nullptr ? named : container::format_at(name);
    const container::FolderFormat* const folder = format.folder();
    if (is_object && folder == nullptr) return find_object(name, writable);
    if (folder == nullptr && !format.traits().suffix.empty()) reject_format(name, format);
    if (folder == nullptr) throw_missing(name, nullptr);
    const container::ArrayName parts = container::array_name(name);
    container::FolderMetadata metadata =
        folder->locate_metadata(parts.file, parts.array, writable ? Copies::kIgnored : Copies::kAllowed);
    if (!metadata.exists) throw_missing(name, folder);
    if (metadata.copy) return {{metadata.location, {}, {}}, std::move(metadata.copy)};
    if (const auto archive = store::zip::find_remote(metadata.location, store::zip::Validation::kRecent))
      return find_in_archive(name, archive, metadata.location, writable);
    return {{metadata.location, {}, {}}, std::make_unique<store::ObjectBytes>(metadata.location)};
  }
  std::unique_ptr<store::Store> open(const store::Location& location, bool /*writable*/) const override {
    if (is_spool(location)) return open_spool(location);
    if (location.details.starts_with(kInArchive)) {
      const std::string_view encoded = std::string_view(location.details).substr(kInArchive.size());
      return open_in_archive(location.path, store::zip::adopt_remote(encoded));
    }
    if (!location.details.empty()) return std::make_unique<store::ObjectRanges>(location.path, location.details);
    return std::make_unique<store::ObjectBytes>(location.path);
  }
  std::unique_ptr<store::NewFile> create(const std::string& name, const store::NewFileOptions& options) const override {
    const container::ArrayName parts = container::array_name(name);
    const container::Format& format = container::format_named(name);
    if (format.folder() == nullptr) return make_new_object(std::string(parts.file), options);
    return plain::make_new_folder(*format.folder(), parts.file, parts.array, options);
  }
  void send_new(collective::Collective& call, store::Store& store, store::NewFile* made) const override {
    // The store states on each rank whether the file is one object. To determine that from the name may take requests,
    // which can fail on one rank.
    if (is_spool(store)) send_spool(call, store, made);
  }
  ResolvedName locate(const std::string& name) const override {
    return objects::locate(name, container::format_named(name));
  }
};

}  // namespace

bool is_name(std::string_view name) {
  if (store::is_url(name)) return true;
  const std::size_t colon = name.find(':');
  return colon != std::string_view::npos && store::is_url(name.substr(colon + 1)) &&
         container::array_name(name).format != nullptr;
}

const FileDriver& driver() {
  static const ObjectsDriver kDriver;
  return kDriver;
}

ResolvedName locate(const std::string& name, const container::Format& holds) {
  check_name(name, false);
  ResolvedName found = plain::describe(name, holds);
  const container::ArrayName parts = container::array_name(name);
  found.location = parts.file;
  while (found.location.ends_with('/')) found.location.pop_back();
  if (holds.folder() != nullptr) {
    found.kind = base::text("Zarr in ", find_kind(name).scheme, "://");
    for (const std::string& part : store::split(parts.array.value_or(""), '/'))
      if (!part.empty()) base::append_parts(found.location, '/', part);
  }
  found.id = store::object_id(found.location);
  found.supports_unfinished = find_kind(name).unfinished != nullptr;
  return found;
}

void check_name(const std::string& name, bool is_new) {
  const std::string_view url = container::array_name(name).file;
  (void)store::object_store_kind(url);
  (void)store::parse_object_url(url);
  if (!is_new) return;
  check_writable(name);
  const container::Format& format = container::format_named(name);
  if (format.folder() == nullptr && find_kind(name).upload == nullptr) reject_format(name, format);
  if (format.traits().suffix.empty() && container::foreign_by_name(url) == "zip")
    base::throw_argument_error(name,
                               ": the name ends like those of zip files, which Plait only reads; choose a name that "
                               "ends with .zarr or .npz, and pack the result by a program for zip files");
}

}  // namespace plait::driver::objects
