/// The component files of striped files: made, looked at, removed.
#pragma once

#include <string>
#include <vector>

#include "store/posix/descriptor.hpp"
#include "store/stripe/description.hpp"

namespace plait::store::stripe {

/// errors  kSystem: a disk is not there or is not a folder.
void check_disks(const std::vector<std::string>& disks, const std::string& shown);

/// Makes the component files, with their sizes and, where the file system can, their space.  Returns them open.
/// errors  kSystem: names the component: no permission, a full disk.  Those that were made are removed.
std::vector<posix::Descriptor> make_components(const Description& description, unsigned permissions,
                                               const std::string& shown);

/// errors  kSystem: names the first component that is missing, or has another size than it should.
void check_components(const Description& description, const std::string& shown);

/// Removes those that are there and have the names of components.
void remove_components(const Description& description) noexcept;

/// Removes the component files that a description lists which a killed process left behind, unless they are those of
/// the striped file `target`.
void remove_left_behind(const std::string& left_behind, const std::string& target) noexcept;

/// What temporary names of descriptions end with.
inline constexpr const char* kTemporarySuffix = ".stripes";

/// The striped file that a new file replaces: its component files go once the new one is in place.  A process that is
/// killed in between leaves a second name of the old description, by which the next one finds them.
class Replaced {
 public:
  /// `temporary` is the path of the new content, `target` its final one.
  Replaced(const std::string& temporary, const std::string& target);
  ~Replaced();
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  /// The new file is in place.
  void remove() noexcept;

 private:
  std::optional<Description> description_;
  std::string second_name_;
  posix::Descriptor lock_;
};

}  // namespace plait::store::stripe
