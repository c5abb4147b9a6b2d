/// Creates, checks and removes the component files of striped files.
#pragma once

#include <string>
#include <vector>

#include "store/posix/descriptor.hpp"
#include "store/posix/replacement.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait::store::stripe {

/// Checks the folders of new components.  errors  kSystem: a disk does not exist or is not a folder.
void check_disks(const std::vector<std::string>& disks, const std::string& display_name);

/// Makes the component files of the striped file with the name `basename`, with the sizes that the description states,
/// the given attributes and, if the file system supports that, reserved space. Returns the open files.
/// errors  kSystem: no permission, or a full disk; the message names the component. The components that were made are
///         removed.
std::vector<posix::Descriptor> make_components(const Description& description, const posix::Attributes& attributes,
                                               const std::string& basename, const std::string& display_name);

/// Checks that all components exist with their sizes.  errors  kSystem: the message names the first wrong component.
void check_components(const Description& description, const std::string& display_name);

/// Removes those components of a description that exist and are named like components of a striped file `basename`; a
/// damaged description may list other files, which must not be removed.
void remove_components(const Description& description, const std::string& basename) noexcept;

/// Removes the component files that a description left by a killed process lists, unless the striped file `target` or
/// another name (hard link) of the description still uses them. Returns true if the description `leftover` may be
/// removed, and false if it is unknown whether its components are in use.
bool remove_leftover(const std::string& leftover, const std::string& target) noexcept;

/// Suffix of temporary names of descriptions.
inline constexpr const char* kTemporarySuffix = ".stripes";

}  // namespace plait::store::stripe
