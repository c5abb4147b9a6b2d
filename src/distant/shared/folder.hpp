/// What this rank's folder holds of a shared file.
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

/// What one rank sees of a striped file.
struct Seen {
  Description file;             ///< that of any component
  std::vector<int> components;  ///< those that are there with their bytes
  bool operator==(const Seen&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Seen>& seen) {
  codec(seen.file, seen.components);
}

/// What one rank sees under a name.
struct Sight {
  std::optional<store::Identity> plain;  ///< an ordinary file
  std::vector<Seen> striped;
  bool operator==(const Sight&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Sight>& sight) {
  codec(sight.plain, sight.striped);
}

/// `held` gets the ordinary file, not to be read: while it is there no other one gets its number.
/// errors  kSystem: no such folder, a damaged description.
Sight look(const std::string& path, store::posix::Descriptor& held);

/// A file that belongs to a shared one.
struct Part {
  std::string path;
  Found what;
};
/// What the folder holds of files of the name, in the order of the components; nothing where it cannot be read.
std::vector<Part> parts_in(const std::string& path);
/// The ids of files of the name of which anything is there.
std::set<std::string> ids_seen(const std::string& path);
/// Removes components of files of the name that have another id than `keep`.  Others may do so at the same time; what
/// cannot be removed stays.
void remove_others(const std::string& path, const std::string& keep) noexcept;
/// Writes a component's description, whole and durably, or not at all.  errors  kSystem.
void write_description(const std::string& component_path, const Description& description);

/// The folder that a path names a file in, and the name there.
std::string folder_of(const std::string& path);
std::string name_of(const std::string& path);
/// Whether what one host writes there is at once seen by all: not so with file systems that keep copies for a while.
bool is_coherent(const std::string& folder);

}  // namespace plait::distant::shared
