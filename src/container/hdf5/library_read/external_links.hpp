/// Links into other files, followed as PLAIT_HDF5_EXTERNAL permits.
#pragma once

#include "base/errors.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/library_read/other_files.hpp"

namespace plait::container::hdf5 {

/// Link access properties, and the outcome of the last lookup of a name that used them.
class ExternalLinks {
 public:
  /// The Library must outlive the object, and the object must outlive the uses of id().
  ExternalLinks(const Library& hdf5, FollowRule rule);
  ExternalLinks(const ExternalLinks&) = delete;
  ExternalLinks& operator=(const ExternalLinks&) = delete;

  /// Returns false if the library has failed to make the properties.
  explicit operator bool() const { return static_cast<bool>(properties_); }
  hid_t id() const { return properties_.id(); }
  FollowRule rule() const { return rule_; }
  /// Discards the outcome of the last lookup. Must be called before a name is opened.
  void clear();
  /// Returns the reason why the last name could not be opened, if it led to a file that is missing or must not be read.
  const base::Rejection& rejection() const { return rejection_; }
  /// Returns true if the last name led to a missing file.
  bool is_missing() const { return is_missing_; }

 private:
  /// The library calls it for each external link. Returns a negative value if the link must not be followed, and
  /// records the reason.
  static herr_t check(const char* from, const char* group, const char* to, const char* object, unsigned* flags,
                      hid_t access, void* links);

  const Library& hdf5_;
  FollowRule rule_;
  Handle properties_;
  base::Rejection rejection_;
  bool is_missing_ = false;
};

}  // namespace plait::container::hdf5
