/// The interface of file formats with arrays, such as HDF5 or Zarr: recognizing a file, opening its arrays, and
/// creating new files.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "container/content.hpp"
#include "container/dataset.hpp"
#include "container/folder_format.hpp"
#include "plait/array_description.hpp"
#include "plait/file_options.hpp"
#include "store/store.hpp"

namespace plait::container {

/// Number of bytes at the beginning of a file that contain the signatures of all formats. HDF5's 8 bytes may follow a
/// user block of up to 4096 bytes.
inline constexpr std::size_t kHeaderBytes = 4096 + 8;

/// Changes of an existing file: whether its arrays can change in place, and new arrays in it.
class FileChanges {
 public:
  virtual ~FileChanges() = default;
  /// Checks that arrays can change in place.  errors  kArgument: files of this format do not change in place.
  virtual void check() const {}
  /// Returns true if the file was opened under the name of an array that it does not have and that add() can add.
  /// errors  kSystem.
  virtual bool lacks_array() const { return false; }
  /// Begins a new array in the file, under the name with which the file was opened. Readers see it after
  /// DeferredChanges::commit().
  /// errors  kArgument: the options do not fit, or the array cannot be added.  kSystem: another program changes the
  ///         file.
  virtual std::unique_ptr<Dataset> add(const FileOptions& /*options*/) { return nullptr; }
};

/// An existing file of a format. One rank creates this object, reads the metadata that it needs through it, and
/// destroys it.
class OpenedFile {
 public:
  virtual ~OpenedFile() = default;
  /// Returns the arrays that the name given to Format::open() refers to, in the order of the file: all arrays of the
  /// file or group, or the one array.
  /// errors  kArgument: no object has that name. kSystem: the file is damaged.
  virtual std::vector<Member> arrays() { return {}; }
  /// Returns the groups of the file with their attributes, the root first; empty if the format has no groups.
  /// errors  kSystem: the file is damaged.
  virtual std::vector<GroupAttributes> groups() { return {}; }
  /// Returns the checks of changes in place, and the means to add arrays; nullptr if arrays can always change in place
  /// and none can be added.
  virtual FileChanges* changes() { return nullptr; }
  /// Passes the first bytes of the file, so that dataset() need not read them again: kHeaderBytes, or the whole file if
  /// it is shorter. They must remain valid until dataset() has returned.
  void offer_header(std::span<const std::byte> header) { header_ = header; }
  /// Opens the array that the name refers to. stated: the caller's description of the array, for formats whose files
  /// do not describe it.
  /// errors  kArgument: no array or several have that name; `stated` is incomplete. kSystem: the file is damaged.
  virtual std::unique_ptr<Dataset> dataset(const FileOptions& stated) = 0;

 protected:
  /// Returns the bytes that were passed to offer_header(); empty if there was no call.
  std::span<const std::byte> header() const { return header_; }

 private:
  std::span<const std::byte> header_;
};

/// A file to be created, on one rank. Formats that store arrays without encoding need no derived class.
class NewFile {
 public:
  explicit NewFile(NewContent content) : content_(std::move(content)) {}
  virtual ~NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const NewContent& content() const { return content_; }
  /// Returns the data that Format::attach_new() needs on other ranks, if the options do not suffice.
  virtual std::string encoded() const { return {}; }
  /// Opens the first array on this rank.  store: a file that begins with the head of content().
  virtual std::unique_ptr<Dataset> dataset(std::shared_ptr<store::Store> store) const {
    return std::make_unique<Dataset>(content_, std::move(store));
  }

 private:
  NewContent content_;
};

/// Properties that all files of a format share.
struct FormatTraits {
  /// Prefix that states the format in names, and its name in `format=`, such as `hdf5`; empty if there is none.
  std::string_view name{};
  /// Suffix of file names, such as `.npy`; empty if files may have any name.
  std::string_view suffix{};
  /// Description of such a file, such as "an HDF5 file".
  std::string kind{};
  /// True if files state the shape and the element type of their arrays.
  bool states_type = true;
  /// True if files hold arrays under names: `FILE::NAME`.
  bool names_arrays = false;
  /// True if new files store their arrays in chunks, according to FileOptions.
  bool has_chunks = false;
  /// True if a program can continue a new file that another program has left incomplete: no part of such a file was
  /// only in the memory of that program.
  bool supports_unfinished = true;
  /// True if new files can have texts of any length.
  bool has_texts = false;
  /// True if the format's own library can copy arrays from other files into new ones (FileOptions::library_copies).
  bool copies_objects = false;
  /// The order of all arrays; empty if each array has its own.
  std::optional<Order> only_order{};
};

/// A file format. Formats have no state, so any number of threads may use one object.
class Format {
 public:
  explicit Format(FormatTraits traits) : traits_(std::move(traits)) {}
  virtual ~Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;

  const FormatTraits& traits() const { return traits_; }

  /// Returns true if a file that begins with these bytes has this format.  header: kHeaderBytes, or the whole file if
  /// it is shorter.
  virtual bool has_signature(std::span<const std::byte> header) const = 0;
  /// Returns true if the content of a file whose name states this format has this format. Unlike has_signature(), this
  /// function may search the store for signatures that `header` does not contain.
  /// errors  kSystem.
  virtual bool recognizes(store::Store& /*store*/, std::span<const std::byte> header) const {
    return has_signature(header);
  }

  /// Opens an existing file on one rank.
  /// name: the name of the file, or of an array in it. store: the file; for a folder, the file that describes it.
  /// errors  kSystem.
  virtual std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const = 0;
  /// Opens an array that another rank has opened by OpenedFile::dataset(). content: the content of that rank's dataset.
  /// encoded: see Dataset::encoded().
  /// errors  kSystem.
  virtual std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store,
                                          const std::string& /*name*/, std::string_view /*encoded*/) const {
    return std::make_unique<Dataset>(std::move(content), std::move(store));
  }

  /// Describes a new file, but does not create it.
  /// errors  kArgument: options are missing or make no sense, or the format is read-only.
  virtual std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& options) const = 0;
  /// Describes a new file that another rank has described by create(). The result may lack NewContent::head, which only
  /// that rank writes.
  virtual std::unique_ptr<NewFile> attach_new(const std::string& name, const FileOptions& options,
                                              std::string_view /*encoded*/) const {
    return create(name, options);
  }
  /// Returns the reason why a file of that name cannot have an attribute; empty if it can. of_group: true for the
  /// attribute of a group, false for that of an array.
  virtual base::Rejection attribute_rejection(const std::string& name, const ArrayAttribute& attribute,
                                              bool of_group) const;

  /// Returns the operations of folders; nullptr if files of this format are ordinary files.
  virtual const FolderFormat* folder() const { return nullptr; }

 private:
  FormatTraits traits_;
};

}  // namespace plait::container
