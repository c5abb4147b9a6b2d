// The callback by which the HDF5 library asks before it follows an external link.

#include "container/hdf5/library_read/external_links.hpp"

#include <string_view>

namespace plait::container::hdf5 {

ExternalLinks::ExternalLinks(const Library& hdf5, FollowRule rule)
    : hdf5_(hdf5), rule_(rule), properties_(hdf5->H5Pcreate(hdf5->H5P_CLS_LINK_ACCESS_ID_g), hdf5->H5Pclose) {
  if (properties_ && hdf5->H5Pset_elink_cb(properties_.id(), check, this) < 0) properties_ = Handle();
}

void ExternalLinks::clear() {
  rejection_ = {};
  is_missing_ = false;
}

herr_t ExternalLinks::check(const char* from, const char* /*group*/, const char* to, const char* /*object*/,
                            unsigned* /*flags*/, hid_t /*access*/, void* links) {
  auto& self = *static_cast<ExternalLinks*>(links);
  const OtherFile file = find_other_file(from, to, Naming::kLink, self.rule_);
  constexpr std::string_view kReasonBegin = "its name is a link into another file, ";
  if (file.rejection)
    self.rejection_ = base::Rejection::because(kReasonBegin, file.rejection.reason());
  else if (!file.exists)
    self.rejection_ = base::Rejection::because(kReasonBegin, to, ", which is missing; copy it there");
  else if (!Handle(self.hdf5_->H5Fopen(file.path.c_str(), kReadOnly, 0), self.hdf5_->H5Fclose))
    // Fail here: if the library cannot open this file, it searches other folders for a file of this name.
    self.rejection_ =
        base::Rejection::because(kReasonBegin, to, ", which cannot be opened as an HDF5 file; copy it again");
  self.is_missing_ = !file.rejection && !file.exists;
  return self.rejection_ ? -1 : 0;
}

}  // namespace plait::container::hdf5
