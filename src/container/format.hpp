/// Formats of files with arrays.
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

/// Bytes that contain the signatures of all formats, including HDF5's after a user block of up to 4096 bytes.
inline constexpr std::size_t kHeaderBytes = 4096 + 8;

/// An existing file of a format.  One rank opens it, and lets it go when it has what it needs.
class OpenedFile {
 public:
  virtual ~OpenedFile() = default;
  /// The arrays that the name stands for, in the order of the file: those of the file or group, or the one array.
  /// errors  kArgument: nothing has that name.  kSystem: damaged.
  virtual std::vector<Member> arrays() { return {}; }
  /// The groups of the file with their attributes, the root first; empty if the format has no groups.
  /// errors  kSystem: damaged.
  virtual std::vector<GroupAttributes> groups() { return {}; }
  /// Called before dataset() if the array is to change in place.
  /// errors  kArgument: files of this format do not change in place.
  virtual void check_changeable() const {}
  /// Opens the array that the name stands for.  stated: what the caller says of it, which formats that state nothing
  /// need.
  /// errors  kArgument: no array or several have that name; `stated` lacks something.  kSystem: damaged.
  virtual std::unique_ptr<Dataset> dataset(const FileOptions& stated) = 0;
};

/// A file that is to be made, on one rank.  Formats whose arrays lie in the file as they are need no class of their own.
class NewFile {
 public:
  explicit NewFile(NewContent content) : content_(std::move(content)) {}
  virtual ~NewFile() = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const NewContent& content() const { return content_; }
  /// Returns what Format::attach_new() needs on other ranks, if the options do not suffice.
  virtual std::string encoded() const { return {}; }
  /// Opens the first array on this rank.  store: a file that begins with the head of content().
  virtual std::unique_ptr<Dataset> dataset(std::shared_ptr<store::Store> store) const {
    return std::make_unique<Dataset>(content_, std::move(store));
  }

 private:
  NewContent content_;
};

/// What is the same for all files of a format.
struct FormatTraits {
  /// The prefix that states the format in names, which is also its name in `format=`, such as `hdf5`; empty if none.
  std::string_view name{};
  /// What names of its files end with, such as `.npy`; empty: any name.
  std::string_view suffix{};
  /// What such a file is, in words.
  std::string kind{};
  /// Whether files state the shape and the element type of what they hold.
  bool states_type = true;
  /// Whether files hold arrays under names: `FILE::NAME`.
  bool names_arrays = false;
  /// Whether new files keep their arrays in chunks, as FileOptions say.
  bool keeps_chunks = false;
  /// Whether a program can go on with what another one has left of a new file: nothing of it is in memory alone.
  bool keeps_unfinished = true;
  /// The order of all arrays; empty: each has its own.
  std::optional<Order> only_order{};
};

/// A format.  Without state: any number of threads may use it.
class Format {
 public:
  explicit Format(FormatTraits traits) : traits_(std::move(traits)) {}
  virtual ~Format() = default;
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;

  const FormatTraits& traits() const { return traits_; }

  /// Returns true if a file that begins with these bytes has this format.  header: kHeaderBytes, or the whole file.
  virtual bool begins(std::span<const std::byte> header) const = 0;
  /// Returns true if a file that has a name of this format contains this format.  May search the store for signatures
  /// that begins() does not see in `header`.  errors  kSystem.
  virtual bool recognizes(store::Store& /*store*/, std::span<const std::byte> header) const { return begins(header); }

  /// Opens an existing file on one rank.  name: of the file, or of an array in it.  store: the file; of a folder, the
  /// one that describes it.
  /// errors  kSystem.
  virtual std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const = 0;
  /// Opens on another rank the array that one rank has opened.  content: its content.  encoded: as of Dataset.
  /// errors  kSystem.
  virtual std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store,
                                          const std::string& /*name*/, std::string_view /*encoded*/) const {
    return std::make_unique<Dataset>(std::move(content), std::move(store));
  }

  /// Describes a new file; makes nothing.
  /// errors  kArgument: options that are missing or make no sense, or a format that is only read.
  virtual std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& options) const = 0;
  /// Describes on another rank the new file that one rank has described; the head may be left out.
  virtual std::unique_ptr<NewFile> attach_new(const std::string& name, const FileOptions& options,
                                              std::string_view /*encoded*/) const {
    return create(name, options);
  }
  /// Returns why a new file of that name cannot have an attribute, of a group or of an array.
  virtual base::Rejection attribute_rejection(const std::string& name, const ArrayAttribute& attribute,
                                              bool of_group) const;

  /// nullptr: its files are ordinary files.
  virtual const FolderFormat* folder() const { return nullptr; }

 private:
  FormatTraits traits_;
};

}  // namespace plait::container
