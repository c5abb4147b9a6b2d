// Changing the attributes of an existing dataset through the HDF5 library (member functions of HdfFile).
//
// A new value is first written under a temporary name. Then the former attribute is deleted, and the new one is
// renamed, so that an error loses neither value.

#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/changing/private_image.hpp"
#include "container/hdf5/hdf_file.hpp"
#include "container/hdf5/writing/new_attributes.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

/// Name of the attribute that holds a new value until it replaces the former one.
constexpr const char* kTemporaryAttribute = ".plait-new";

}  // namespace

HdfFile::HdfFile(store::Store& store, const std::string& path, PrivateImage& image)
    : store_(store), path_(path), file_bytes_(store.size()) {
  const Handle access = image.access(hdf5_);
  // The core driver requires a name, which must not be that of an existing file.
  if (access) file_ = Handle(hdf5_->H5Fopen((path + "/image").c_str(), kReadWrite, access.id()), hdf5_->H5Fclose);
  if (!file_)
    base::throw_system_error(EIO, path, " cannot be opened as an HDF5 file by ", hdf5_.describe(), hdf5_.last_error());
  finish_opening(FollowRule::kNone);
}

void HdfFile::change_attributes(const std::string& name, const AttributeChanges& changes) {
  const std::string display_name = base::text(path_, "::", name);
  std::string changed_names;
  const auto fail = [&](const std::string& what, const std::string& why) {
    base::throw_system_error(EIO, display_name, ": the attribute \"", what, "\" cannot be changed by ",
                             hdf5_.describe(), why, changed_names.empty() ? "" : "; changed are " + changed_names,
                             "; look at the file by h5dump, or copy it to a new one");
  };
  {
    const Handle dataset = open_object(base::text(name.starts_with('/') ? "" : "/", name), display_name);
    if (!dataset) throw_damaged(base::text("the dataset ", display_name));
    for (const auto& [attribute, value] : changes) {
      const int exists = hdf5_->H5Aexists(dataset.id(), attribute.c_str());
      if (exists < 0) fail(attribute, hdf5_.last_error());
      if (value) {  // otherwise the attribute is only deleted
        ArrayAttribute written = *value;
        if (exists > 0) written.name = kTemporaryAttribute;
        try {
          write_attribute(hdf5_, dataset.id(), written, is_netcdf_, display_name);
        } catch (const Error& error) {
          const std::string why = hdf5_.last_error();
          if (hdf5_->H5Aexists(dataset.id(), written.name.c_str()) > 0)
            hdf5_->H5Adelete(dataset.id(), written.name.c_str());
          if (error.kind() == ErrorKind::kSystem) fail(attribute, why);
          throw;
        }
      }
      if (exists > 0 && hdf5_->H5Adelete(dataset.id(), attribute.c_str()) < 0) fail(attribute, hdf5_.last_error());
      if (exists > 0 && value && hdf5_->H5Arename(dataset.id(), kTemporaryAttribute, attribute.c_str()) < 0)
        fail(attribute, hdf5_.last_error());
      base::append_parts(changed_names, changed_names.empty() ? "" : ", ", attribute);
    }
  }
  if (file_.close_now() < 0) fail(changes.begin()->first, hdf5_.last_error());
}

}  // namespace plait::container::hdf5
