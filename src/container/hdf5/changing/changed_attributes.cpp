// Changes of the attributes of existing datasets.

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
constexpr const char* kTemporaryName = ".plait-new";

}  // namespace

HdfFile::HdfFile(store::Store& store, const std::string& path, PrivateImage& image)
    : store_(store), path_(path), bytes_(store.size()) {
  const Handle access = image.access(hdf5_);
  // The core driver requires a name, which must not be that of an existing file.
  if (access) file_ = Handle(hdf5_->H5Fopen((path + "/image").c_str(), kReadWrite, access.id()), hdf5_->H5Fclose);
  if (!file_)
    base::throw_system_error(EIO, path, " cannot be opened as an HDF5 file by ", hdf5_.describe(), hdf5_.why());
  finish_opening(FollowRule::kNone);
}

void HdfFile::change_attributes(const std::string& name, const AttributeChanges& changes) {
  const std::string shown = base::text(path_, "::", name);
  std::string changed;
  const auto failed = [&](const std::string& what, const std::string& why) {
    base::throw_system_error(EIO, shown, ": the attribute \"", what, "\" cannot be changed by ", hdf5_.describe(), why,
                             changed.empty() ? "" : "; changed are " + changed,
                             "; look at the file by h5dump, or copy it to a new one");
  };
  {
    const Handle dataset = open_object(base::text(name.starts_with('/') ? "" : "/", name), shown);
    if (!dataset) throw_damaged(base::text("the dataset ", shown));
    for (const auto& [attribute, value] : changes) {
      const int exists = hdf5_->H5Aexists(dataset.id(), attribute.c_str());
      if (exists < 0) failed(attribute, hdf5_.why());
      if (value) {
        // Delete the former value only after the new one has been written, so that an error loses neither.
        ArrayAttribute written = *value;
        if (exists > 0) written.name = kTemporaryName;
        try {
          write_attribute(hdf5_, dataset.id(), written, of_netcdf_, shown);
        } catch (const Error& error) {
          const std::string why = hdf5_.why();
          if (hdf5_->H5Aexists(dataset.id(), written.name.c_str()) > 0)
            hdf5_->H5Adelete(dataset.id(), written.name.c_str());
          if (error.kind() == ErrorKind::kSystem) failed(attribute, why);
          throw;
        }
      }
      if (exists > 0 && hdf5_->H5Adelete(dataset.id(), attribute.c_str()) < 0) failed(attribute, hdf5_.why());
      if (exists > 0 && value && hdf5_->H5Arename(dataset.id(), kTemporaryName, attribute.c_str()) < 0)
        failed(attribute, hdf5_.why());
      base::append_parts(changed, changed.empty() ? "" : ", ", attribute);
    }
  }
  if (file_.close_now() < 0) failed(changes.begin()->first, hdf5_.why());
}

}  // namespace plait::container::hdf5
