// Attributes of datasets that are there.

#include <cerrno>
#include <optional>

#include "base/text.hpp"
#include "container/hdf5/file.hpp"
#include "container/hdf5/writing/new_attributes.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

void HdfFile::change_attributes(const std::string& name, const AttributeChanges& changes) {
  const std::string shown = base::text(path_, "::", name);
  const auto failed = [&](const std::string& what) {
    throw Error(ErrorKind::kSystem,
                base::text(shown, ": the attribute \"", what, "\" cannot be changed by ", hdf5_.words(), hdf5_.why(),
                           "; look at the file by h5dump, or copy it to a new one"),
                EIO);
  };
  {
    const Handle dataset = open_object(base::text(name.starts_with('/') ? "" : "/", name), shown);
    if (!dataset) damaged(base::text("the dataset ", shown));
    for (const auto& [attribute, value] : changes) {
      const int there = hdf5_->H5Aexists(dataset.id(), attribute.c_str());
      if (there < 0 || (there > 0 && hdf5_->H5Adelete(dataset.id(), attribute.c_str()) < 0)) failed(attribute);
      if (value) write_attribute(hdf5_, dataset.id(), *value, of_netcdf_, shown);
    }
  }
  if (file_.close_now() < 0) failed(changes.begin()->first);
}

}  // namespace plait::container::hdf5
