/// What array files hold, and how they say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "plait/array_attribute.hpp"
#include "plait/file.hpp"
#include "store/store.hpp"
#include "transport/counter.hpp"

namespace plait::container {

/// An array and where it lies: from an offset on, as a whole or chunk by chunk.
struct Content {
  ArrayType type;
  std::int64_t data_offset = 0;
  /// The shape of the chunks, which lie as plan/access/chunks.hpp says; empty: there are none.
  Extents chunk{};
  /// The shape of the shards that these lie in, a file of many chunks each; empty: there are none.
  Extents shard{};
  /// One for each dimension, empty where it has none; or none at all.
  std::vector<std::string> dimension_names{};
  /// Whether a part of a chunk costs as much as all of it, because it is packed as a whole.
  bool packed = false;
  /// What elements have that nobody has written, as an element; empty: zero, or the format does not say.
  std::vector<std::byte> fill{};
  ArrayAttributes attributes{};
  /// The numbers of the dimensions that may grow, ascending.
  std::vector<std::int64_t> unlimited{};
  /// Of the whole file.  errors  kArgument: more than 2^63 - 1.
  std::int64_t bytes() const;
};

/// An array of a file that holds several, each under a name.
struct Member {
  std::string name;
  Content content;
  std::string element;      ///< what the format calls the type of its elements
  std::int64_t stored = 0;  ///< bytes that the array takes in the file
  std::string kept;         ///< how they are kept there, in words
  std::string codec{};      ///< of a new file: how its chunks are packed, as FileOptions say
  /// Of a new file: where in its head the place of the array is to be told, for formats that know it only at the end.
  std::int64_t told_at = 0;
  /// Why it cannot be opened; empty: it can.
  std::string refused{};
  /// False for an array that has a name and attributes, but no shape and no elements (a null dataspace of HDF5).
  bool has_elements = true;
};

/// What a new file will hold, and the bytes that it begins with.
struct NewContent : Content {
  std::vector<std::byte> head;
  /// Of the whole file where something follows the array; else 0.
  std::int64_t file_bytes = 0;
  /// All arrays of a file that holds several by their names; this content is that of the first.
  std::vector<Member> members{};
  /// Texts of the metadata of groups, by the names of these, of a format of folders.
  std::map<std::string, std::string> groups{};
  /// Whether a later program may go on with it, as FileOptions say.
  bool keeps_unfinished = false;
};

/// A folder that is to appear with a new array in it.
struct NewFolder {
  std::string target;  ///< what appears: the array's folder, or the highest one above it that is not there yet
  std::string file;    ///< in it: what the array's store begins with, as `group/array/zarr.json`
  /// Other files in it, and what they hold.
  std::vector<std::pair<std::string, std::string>> others;
  /// Whether what has the name when it appears may be replaced; empty: whatever it is.
  std::function<bool()> replaces;
  /// Called when it has appeared, for what tells of all arrays beside it; empty: there is nothing.
  std::function<void()> settle;
};

/// A format of files with arrays.  Without state: any number of threads may use it.
class Container {
 public:
  virtual ~Container() = default;
  /// Whether files of it say what they hold; what the caller says is compared with that then.
  virtual bool tells() const = 0;
  /// What names of its files end with, such as `.npy`; empty: any name.
  virtual std::string_view suffix() const = 0;
  /// The prefix that states the format in names, which is also its name in `format=`, such as `hdf5`; empty if none.
  virtual std::string_view format() const { return {}; }
  /// What a file of it is, in words.
  virtual std::string kind() const { return base::text("a ", suffix(), " file"); }
  /// Whether a file that begins so is one.  `front` has kFrontBytes, or all that there are.
  virtual bool begins(std::span<const std::byte> front) const = 0;
  /// True if a file that has a name of this format contains this format.  May search the store for signatures that
  /// begins() does not see in `front`.  errors  kSystem.
  virtual bool recognizes(store::Store& /*store*/, std::span<const std::byte> front) const { return begins(front); }
  /// The bytes that those of `store` stand for where they are coded, as a store; else `store` itself.  One rank calls
  /// it before inspect(), with nothing in `told`; every other one with what tell() said there.  path: as for inspect().
  /// errors  kArgument: the name says that something else is coded.  kSystem: damaged.
  virtual std::shared_ptr<store::Store> view(std::shared_ptr<store::Store> store, const std::string& /*path*/,
                                             std::string_view /*told*/) const {
    return store;
  }
  /// What the first view() has found out that others need not, such as an index; a text of a few MiB at most.
  virtual std::string tell(const store::Store& /*view*/) const { return {}; }
  /// Whether what it reads is a folder, in which there are files.
  virtual bool in_folder() const { return false; }
  /// Returns the file that describes the content, for the path of a file or folder and the name of an array in it.  A
  /// folder that contains this file has this format.
  /// errors  kArgument: a name that cannot be.
  virtual std::string file_of(std::string_view path, std::optional<std::string_view> /*array*/) const {
    return std::string(path);
  }
  /// Where a new array of a format of folders goes.  One rank calls it.  groups: texts of their metadata, by names, for
  /// those that are made with it.
  /// errors  kArgument: a name that cannot be, or something in the way that is no such array.  kSystem.
  virtual NewFolder new_folder(std::string_view path, std::optional<std::string_view> array,
                               const std::map<std::string, std::string>& /*groups*/) const {
    return {std::string(path), std::string(array.value_or("")), {}, {}, {}};
  }
  /// Whether its files hold arrays under names, which stand behind the path: `FILE::NAME`.
  virtual bool names_arrays() const { return false; }
  /// The order in which all its arrays are; empty: each has its own.
  virtual std::optional<Order> only_order() const { return std::nullopt; }
  /// All arrays of a file, in its order, where they have names.  file: its path; of a folder, where `store` is the
  /// metadata, those below that.  errors  kSystem: damaged.
  virtual std::vector<Member> list(store::Store& /*store*/, const std::string& /*file*/) const { return {}; }
  /// The groups of a file with their attributes, the one that all others are in first; none where there are no groups.
  /// `store` and `file` as for list().  errors  kSystem: damaged.
  virtual std::vector<GroupAttributes> groups(store::Store& /*store*/, const std::string& /*file*/) const { return {}; }
  /// Why a new file of that name does not keep an attribute, of a group or of an array; empty: it does.
  virtual std::string refused_attribute(const std::string& path, const ArrayAttribute& attribute, bool of_group) const;
  /// Whether new files keep their arrays in chunks, as FileOptions say.
  virtual bool keeps_chunks() const { return false; }
  /// Whether a program can go on with what another one has left of a new file: nothing of it is in memory alone.
  virtual bool keeps_unfinished() const { return true; }
  /// The bytes of a new file's array as a store, where they are coded or lie in files of their own.  store: what begins
  /// with the head of `made`.  Every rank calls it.
  virtual std::shared_ptr<store::Store> view_of_new(std::shared_ptr<store::Store> store,
                                                    const NewContent& /*made*/) const {
    return store;
  }
  /// The array that a name stands for, `FILE::NAME`; where groups have names as well, those of a group.
  /// errors  kArgument: there is none of that name.  kSystem: damaged.
  virtual std::vector<Member> list_named(store::Store& /*store*/, const std::string& /*path*/) const { return {}; }
  /// Whether ranks that write a new file count together, by share().
  virtual bool shares(const NewContent& /*made*/) const { return false; }
  /// Gives what view_of_new() made, or view() where changes are kept apart, a counter that all ranks have, before the first write.  alone: whether no other process writes.
  virtual void share(store::Store& /*view*/, std::unique_ptr<transport::Counter> /*counter*/, bool /*alone*/) const {}
  /// Looks at what view() gave.  path: the name by which it is opened, that of an array included.
  /// errors  kArgument: `options` lacks what the file does not tell, or says otherwise.  kSystem: damaged.
  virtual Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const = 0;
  /// errors  kArgument: options that are missing or make no sense, or a format that is only read.
  virtual NewContent create(const std::string& path, const FileOptions& options) const = 0;
  /// What others need of what create() gave one rank, where they would not make the same.
  virtual std::string tell_new(const NewContent& /*made*/) const { return {}; }
  /// What create() gave the rank that tells.  The head is left out.
  virtual NewContent told_new(const std::string& path, const FileOptions& options, std::string_view /*told*/) const {
    return create(path, options);
  }
  /// Whether seal() has anything to do.
  virtual bool seals() const { return false; }
  /// Writes what is known of a new file only when its arrays are there, such as check sums of them.  One rank calls it,
  /// when all have written.  errors  kSystem.
  virtual void seal(store::Store& /*store*/, const NewContent& /*made*/) const {}
  /// errors  kArgument: files of this format are not written in place.
  virtual void check_writable(const std::string& /*path*/) const {}
  /// Makes what view() gave ready for changes in place; one rank calls it before tell().
  /// errors  kArgument: it is not written in place.  kSystem: another program changes it.
  virtual void check_changeable(store::Store& /*view*/) const {}
  /// Whether its changes are kept apart until the end: ranks count together by share() then, and when all have written one
  /// rank, that of check_changeable(), calls commit_changes().
  virtual bool keeps_changes(const store::Store& /*view*/) const { return false; }
  /// Lets all changes take effect.  errors  kSystem: none has.
  virtual void commit_changes(store::Store& /*view*/) const {}
  /// Whether attributes of what view() gave are changed in place.
  virtual bool changes_attributes(const store::Store& /*view*/) const { return false; }
  /// Called before anything of what was written takes effect at the end.
  /// errors  kSystem: why change_attributes() would fail, as far as can be told.
  virtual void prepare_attributes(store::Store& /*view*/, const std::string& /*path*/) const {}
  /// Changes those of the array, which refused_attribute() does not refuse.  One rank calls it, when all have written.
  /// path: as for inspect().  errors  kSystem.
  virtual void change_attributes(store::Store& /*view*/, const std::string& /*path*/,
                                 const AttributeChanges& /*changes*/) const {}
};

/// Bytes that contain the signatures of all formats, including HDF5's after a user block of up to 4096 bytes.
inline constexpr std::size_t kFrontBytes = 4096 + 8;

}  // namespace plait::container
