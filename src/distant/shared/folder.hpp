/// The files in the folder of a path, on this rank's host, that belong to the shared file of that path.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "distant/shared/shared_file_description.hpp"
#include "store/identity.hpp"
#include "store/posix/descriptor.hpp"

namespace plait::distant::shared {

/// The components of a striped file that one rank sees.
struct StripedFile {
  Description file;             ///< the description of any component
  std::vector<int> components;  ///< the components whose bytes exist
  bool operator==(const StripedFile&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, StripedFile>& seen) {
  codec(seen.file, seen.components);
}

/// All files that one rank sees under a name.
struct NameView {
  std::optional<store::Identity> plain;  ///< an ordinary file
  std::vector<StripedFile> striped;
  bool operator==(const NameView&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, NameView>& view) {
  codec(view.plain, view.striped);
}

/// Returns all files in the folder that belong to a path.  `inode_pin` becomes an O_PATH descriptor of the ordinary
/// file, if there is one: while it is open, no other file can get the same inode number, so identities can be compared.
/// errors  kSystem: no such folder, a damaged description.
NameView examine_folder(const std::string& path, store::posix::Descriptor& inode_pin);

/// A file that is part of a shared one.
struct Part {
  std::string path;
  ComponentName what;
};
/// Returns the parts of shared files of this name in its folder, sorted by component; empty if the folder cannot be
/// read.
std::vector<Part> find_parts(const std::string& path);
/// Returns the ids of all striped files of this name that have some part in its folder.
std::set<std::string> find_ids(const std::string& path);
/// Removes the parts of shared files of this name whose id is not `kept_id`.  Other processes may do the same
/// concurrently; files that cannot be removed stay.
void remove_others(const std::string& path, const std::string& kept_id) noexcept;
/// Writes a component's description, entirely and durably, or not at all.
/// errors  kSystem.
void write_description(const std::string& component_path, const Description& description);

/// Return the folder and the file name of a path.
std::string parent_folder(const std::string& path);
std::string file_name(const std::string& path);
/// Returns true if what one host writes in the folder is visible to all hosts at once.  Returns false
/// for file systems that may cache data on each host, such as NFS, SMB and FUSE.
bool is_coherent(const std::string& folder);

}  // namespace plait::distant::shared
