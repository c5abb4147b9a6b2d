/// Attributes of a file that are passed on to the file that replaces it.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace plait::store::posix {

/// Permissions, owner, group, access control list and the user's extended attributes.
class Attributes {
 public:
  /// Reads the attributes of a file that is to be replaced. status: its status. display_name: the name in errors.
  /// errors  kSystem: this process may not read an attribute.
  static Attributes read_replaced(const std::string& path, const struct stat& status, const std::string& display_name);
  /// Reads the attributes that a new file got from the system when it was created.  errors  kSystem.
  static Attributes read_created(int file, const std::string& display_name);

  /// Applies the attributes to a file that this process has made. Its owner can read and write it until finish() sets
  /// the final permissions. Owner and group are set if that is permitted; if the group cannot be set, the file's group
  /// loses the permissions that others do not have.
  /// errors  kSystem: an attribute cannot be set.
  void apply(int file, const std::string& display_name) const;
  /// Sets the final permissions.  errors  kSystem.
  void finish(int file, const std::string& display_name) const;

 private:
  /// Returns the permissions for a file of this status, whose owner or group may differ from that of the old file.
  mode_t permissions_for(const struct stat& status) const;

  struct ExtendedAttribute {
    std::string name;
    std::string value;
  };
  mode_t mode_ = 0;
  uid_t owner_ = 0;
  gid_t group_ = 0;
  bool replaces_old_ = false;  // true if these are the attributes of a file that is to be replaced
  std::vector<ExtendedAttribute> extended_;
};

}  // namespace plait::store::posix
