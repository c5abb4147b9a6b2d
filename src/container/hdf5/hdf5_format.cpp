// Recognizing HDF5 files, and the entry points of the format.

#include "container/hdf5/hdf5_format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "container/hdf5/opened_file.hpp"
#include "container/hdf5/writing/file_creation.hpp"
#include "container/hdf5/writing/new_attributes.hpp"
#include "container/hdf5/writing/new_content.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kSmallestUserBlock = 512;  // bytes; larger ones have twice, four times ... as many

/// The format of HDF5 files with one suffix.
class Hdf5 : public Format {
 public:
  Hdf5(std::string_view name, std::string_view suffix, std::string_view kind)
      : Format({.name = name,
                .suffix = suffix,
                .kind = std::string(kind),
                .names_arrays = true,
                .has_chunks = true,
                .supports_unfinished = false,  // the index of chunks is in memory until the file is closed
                .has_texts = true,
                .copies_objects = !suffix.starts_with(".nc"),
                .only_order = Order::kC}) {}
  bool has_signature(std::span<const std::byte> header) const override { return is_hdf5(header); }
  bool recognizes(store::Store& store, std::span<const std::byte> header) const override {
    return has_signature(header) || has_signature_after_header(store);
  }
  std::unique_ptr<OpenedFile> open(std::shared_ptr<store::Store> store, const std::string& name) const override {
    return std::make_unique<OpenedHdfFile>(std::move(store), name);
  }
  std::unique_ptr<container::Dataset> attach(Content content, std::shared_ptr<store::Store> store,
                                             const std::string& name, std::string_view encoded) const override {
    return make_opened_dataset(std::move(content), std::move(store), decode_dataset(encoded), name);
  }
  std::unique_ptr<container::NewFile> create(const std::string& name, const FileOptions& options) const override {
    return create_file(name, options);
  }
  std::unique_ptr<container::NewFile> attach_new(const std::string& name, const FileOptions& options,
                                                 std::string_view encoded) const override {
    return attach_file(name, options, encoded);
  }
  base::Rejection attribute_rejection(const std::string& name, const ArrayAttribute& attribute,
                                      bool /*of_group*/) const override {
    return hdf5_rejection(attribute, is_netcdf_name(name));
  }
};

}  // namespace

std::span<const Format* const> formats() {
  static const Hdf5 kH5("hdf5", ".h5", "an HDF5 file");
  static const Hdf5 kHdf5("hdf5", ".hdf5", "an HDF5 file");
  static const Hdf5 kHe5("hdf5", ".he5", "an HDF5 file");
  static const Hdf5 kNc4("hdf5", ".nc4", "an HDF5 file");
  static const Hdf5 kNetCdf4("netcdf", ".nc", "a netCDF file");
  static const std::array<const Format*, 5> kFormats{&kH5, &kHdf5, &kHe5, &kNc4, &kNetCdf4};
  return kFormats;
}

bool is_hdf5(std::span<const std::byte> header) {
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  for (std::size_t at = 0; at < text.size(); at = at == 0 ? kSmallestUserBlock : 2 * at)
    if (text.substr(at).starts_with(kSignature)) return true;
  return false;
}

bool has_signature_after_header(store::Store& store) {
  constexpr std::size_t kMaxPositions = 64;  // positions double, so that there are fewer in a file of 2^63 bytes
  std::array<std::array<std::byte, kSignature.size()>, kMaxPositions> signatures{};
  std::vector<store::ReadSegment> segments;
  constexpr auto kSignatureBytes = static_cast<std::int64_t>(kSignature.size());
  const std::int64_t size = store.size();
  // The header ends with the signature at offset 4,096, if there is one: the next position is twice that.
  for (std::int64_t at = kHeaderBytes - kSignatureBytes; at <= (size - kSignatureBytes) / 2;) {
    at *= 2;
    segments.push_back({at, signatures[segments.size()].data(), kSignatureBytes});
  }
  store.read(segments);
  return std::ranges::any_of(std::span(signatures).first(segments.size()),
                             [](const auto& bytes) { return is_hdf5(bytes); });
}

}  // namespace plait::container::hdf5
