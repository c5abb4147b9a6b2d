/// The striped file that a new file replaces.
#pragma once

#include <optional>
#include <string>

#include "store/posix/descriptor.hpp"
#include "store/stripe/stripe_description.hpp"

namespace plait::store::stripe {

/// Its component files go once the new one is in place.  A process that is killed in between leaves a second name of
/// the old description, by which the next one finds them.
class Replaced {
 public:
  /// `temporary` is the path of the new content, `target` its final one, which looks like a description.
  Replaced(const std::string& temporary, const std::string& target);
  ~Replaced();
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  /// The new file is in place.
  void remove() noexcept;

 private:
  std::string basename_;
  std::optional<Description> description_;
  std::string second_name_;
  posix::Descriptor lock_;
};

}  // namespace plait::store::stripe
