#include "container/netcdf/netcdf_format.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/errors.hpp"
#include "container/netcdf/classic_file.hpp"
#include "container/part_store.hpp"

namespace plait::container::netcdf {

namespace {

/// The format of CDF-1, CDF-2 and CDF-5. HDF5's format reads netCDF-4.
class ClassicFormat : public Format {
 public:
  ClassicFormat() : Format({.name = "netcdf", .suffix = ".nc", .kind = "a netCDF file", .names_arrays = true}) {}
  bool has_signature(std::span<const std::byte> header) const override {
    constexpr std::string_view kSignature = "CDF";
    return header.size() > kSignature.size() &&
           std::equal(kSignature.begin(), kSignature.end(), reinterpret_cast<const char*>(header.data())) &&
           (header[3] == std::byte{1} || header[3] == std::byte{2} || header[3] == std::byte{5});
  }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<ClassicFile>(std::move(store), name);
  }
  std::unique_ptr<Dataset> attach(Content content, std::shared_ptr<store::Store> store, const std::string& name,
                                  std::string_view encoded) const override {
    return std::make_unique<ClassicDataset>(std::move(content), std::move(store),
                                            base::decode<Placement>(encoded, base::kAnotherRank), name);
  }
  std::unique_ptr<NewFile> create(const std::string& name, const FileOptions& /*options*/) const override {
    base::throw_argument_error(name, ": new files of classic netCDF are not written; Plait writes netCDF-4");
  }
  base::Rejection attribute_rejection(const std::string& /*name*/, const ArrayAttribute& /*attribute*/,
                                      bool /*of_group*/) const override {
    return {};  // create() fails before any attribute is written
  }
};

}  // namespace

const Format& format() {
  static const ClassicFormat kFormat;
  return kFormat;
}

}  // namespace plait::container::netcdf
