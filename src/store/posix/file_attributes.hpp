/// What a file has besides its name and its bytes, for the file that takes its place.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace plait::store::posix {

/// Permissions, owner, group, access control list and the user's extended attributes.
class Attributes {
 public:
  /// Those of a file that is to be replaced.  errors  kSystem: an attribute that this process may not read; names
  /// `shown`.
  static Attributes of_old(const std::string& path, const std::string& shown);
  /// Those that a file was made with.  errors  kSystem.
  static Attributes of_new(int file, const std::string& shown);

  /// Gives them to a file that this process has made, which its owner can read and write until finish().  Owner and
  /// group are given where that is permitted; a group that cannot be given is left to what others may do.
  /// errors  kSystem: an attribute that cannot be set.
  void apply(int file, const std::string& shown) const;
  /// Gives the permissions themselves.  errors  kSystem.
  void finish(int file, const std::string& shown) const;

 private:
  /// The permissions that a file gets, which may have got another owner or group.
  mode_t mode_for(int file, const std::string& shown) const;

  struct Extended {
    std::string name;
    std::string value;
  };
  mode_t mode_ = 0;
  uid_t owner_ = 0;
  gid_t group_ = 0;
  bool old_ = false;
  std::vector<Extended> extended_;
};

}  // namespace plait::store::posix
