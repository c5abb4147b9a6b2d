/// The striped file that a new file replaces.
#pragma once

#include <optional>
#include <string>

#include "store/posix/descriptor.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait::store::stripe {

/// Removes the component files of the old striped file after the new file has replaced its description. If the process
/// is killed in between, a second name (hard link) of the old description remains, through which the next process finds
/// the component files.
class ReplacedComponents {
 public:
  /// temporary: the path of the new file. target: its final path, where the old description is.
  ReplacedComponents(const std::string& temporary, const std::string& target);
  ~ReplacedComponents();
  ReplacedComponents(const ReplacedComponents&) = delete;
  ReplacedComponents& operator=(const ReplacedComponents&) = delete;
  /// Removes the component files. The new file must have its final name.
  void remove() noexcept;

 private:
  std::string basename_;
  std::optional<Description> description_;
  std::string second_name_;
  posix::Descriptor lock_;
};

}  // namespace plait::store::stripe
