/// References in the elements of datasets and attributes, and their translation into another file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// A part of an element in memory that is a reference, or that contains references.
struct ReferencePart {
  enum class Kind : std::uint8_t {
    kObject,   ///< the address of an object, 8 bytes
    kRegion,   ///< a region of a dataset, 12 bytes
    kFields,   ///< a record: `parts` are its members
    kArray,    ///< `count` parts, `stride` bytes apart
    kSequence  ///< a sequence of any length, an hvl_t; its parts are `stride` bytes apart
  };
  Kind kind = Kind::kObject;
  std::size_t offset = 0;  ///< offset in the part that contains it
  std::size_t count = 1;   ///< see kArray
  std::size_t stride = 0;  ///< see kArray and kSequence
  std::vector<ReferencePart> parts{};
};

/// Finds the references in elements of a type; none if it has no references.
std::optional<ReferencePart> find_references(const Library& hdf5, hid_t type);

/// Returns true if the type has no references of HDF5 1.12 (H5R_ref_t), which can lead to other files.
bool are_translatable(const Library& hdf5, hid_t type);

/// Translates references into one file to references to the objects of the same names in another file.
class ReferenceTranslator {
 public:
  /// The files of both ends, with their names in errors. All must outlive the object.
  struct Files {
    hid_t source = -1;
    hid_t target = -1;
    const std::string& source_name;
    const std::string& target_name;
  };
  /// new_names: the names of objects in the target that differ from those in the source, without leading slashes.
  ReferenceTranslator(const Library& hdf5, const Files& files, std::map<std::string, std::string> new_names)
      : hdf5_(hdf5), files_(files), new_names_(std::move(new_names)) {}

  /// Translates the references in an element in memory. References to unlinked objects, which no path names, become
  /// null.
  /// what: the array or attribute, for errors.
  /// errors  kArgument: the target does not have the object. kSystem: the library fails.
  void translate(const ReferencePart& part, std::byte* element, const std::string& what);
  /// The result of has_all_targets() for references to unlinked objects, which translate() makes null.
  enum class Unlinked : std::uint8_t { kAccepted, kMissing };
  /// Returns true if the target has, or will get, all objects to which the references in an element refer. Null
  /// references are ignored.
  bool has_all_targets(const ReferencePart& part, std::byte* element, Unlinked unlinked);
  /// Sets the names, in the source, of the datasets that will be added to the target later.
  void set_expected(std::set<std::string> paths) { expected_ = std::move(paths); }

 private:
  /// Returns the name, in the source, of the object to which a reference refers; empty if the object is unlinked.
  std::optional<std::string> referenced_path(ReferencePart::Kind kind, std::byte* reference);
  /// Returns true if translate() can find or make the object in the target. path: its name in the source.
  bool can_find_or_make(const std::string& path) const;
  /// Returns the address in the target of the object at an address of the source; 0 if the object is unlinked.
  haddr_t translate_object(haddr_t address, const std::string& what);
  /// Replaces a reference to a region.
  void translate_region(std::byte* reference, const std::string& what);
  /// Returns the name, in the source, of the object at an address; empty if the object is unlinked.
  std::optional<std::string> source_path(haddr_t address);
  /// Lists the names of all objects of the source in paths_.
  void list_source();
  /// Opens an object of the target. path: its name in the source.
  Handle open_target(const std::string& path) const;
  /// Opens an object like open_target(), and makes groups and named types that are missing.
  Handle find_or_make(const std::string& path, const std::string& what) const;

  const Library& hdf5_;
  const Files files_;
  const std::map<std::string, std::string> new_names_;
  std::set<std::string> expected_;
  std::map<haddr_t, std::string> paths_;     ///< names of objects in the source, by address
  std::map<haddr_t, haddr_t> translations_;  ///< addresses of objects in the target, by their address in the source
};

}  // namespace plait::container::hdf5
