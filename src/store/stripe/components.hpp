/// The component files of striped files: creation, checks and removal.
#pragma once

#include <string>
#include <vector>

#include "store/posix/descriptor.hpp"
#include "store/posix/replacement.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait::store::stripe {

/// Checks the folders of new components.  errors  kSystem: a disk does not exist or is not a folder.
void check_disks(const std::vector<std::string>& disks, const std::string& shown);

/// Makes the component files of a file `basename`, with their sizes, the attributes of the description and, if the file
/// system supports that, reserved space. Returns them open.
/// errors  kSystem: no permission, or a full disk; the message names the component. The components that were made are
///         removed.
std::vector<posix::Descriptor> make_components(const Description& description, const posix::Attributes& attributes,
                                               const std::string& basename, const std::string& shown);

/// Checks that all components exist with their sizes.  errors  kSystem: the message names the first wrong component.
void check_components(const Description& description, const std::string& shown);

/// Removes those components that exist and have the names of components of a file `basename`.
void remove_components(const Description& description, const std::string& basename) noexcept;

/// Removes the component files that the description of a killed process lists, unless they may still be in use: by the
/// striped file `target`, or through another name of the description. Returns false if that is unknown, so that the
/// description should stay.
bool remove_leftover(const std::string& leftover, const std::string& target) noexcept;

/// Suffix of temporary names of descriptions.
inline constexpr const char* kTemporarySuffix = ".stripes";

}  // namespace plait::store::stripe
