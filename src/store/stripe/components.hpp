/// The component files of striped files: made, looked at, removed.
#pragma once

#include <string>
#include <vector>

#include "store/posix/descriptor.hpp"
#include "store/posix/replacement.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait::store::stripe {

/// errors  kSystem: a disk is not there or is not a folder.
void check_disks(const std::vector<std::string>& disks, const std::string& shown);

/// Makes the component files of a file `basename`, with their sizes, the description's attributes and, where the file
/// system can, their space. Returns them open.
/// errors  kSystem: names the component: no permission, a full disk.  Those that were made are removed.
std::vector<posix::Descriptor> make_components(const Description& description, const posix::Attributes& attributes,
                                               const std::string& basename, const std::string& shown);

/// errors  kSystem: names the first component that is missing, or has another size than it should.
void check_components(const Description& description, const std::string& shown);

/// Removes those that are there and have the names of components of a file `basename`.
void remove_components(const Description& description, const std::string& basename) noexcept;

/// Removes the component files that a description lists which a killed process left behind, unless something may still
/// need them: the striped file `target`, or a further name of the description.  False: it could not be told, and the
/// description should stay.
bool remove_left_behind(const std::string& left_behind, const std::string& target) noexcept;

/// What temporary names of descriptions end with.
inline constexpr const char* kTemporarySuffix = ".stripes";

}  // namespace plait::store::stripe
