// Loading libsz, and decoding the data of HDF5's filter szip.

#include "container/hdf5/codecs/szip.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "base/errors.hpp"
#include "codec/damaged.hpp"

namespace plait::container::hdf5 {

namespace {

/// A copy of SZ_com_t of szlib.h.
struct SzipParameters {
  int options;
  int bits_per_pixel;
  int pixels_per_block;
  int pixels_per_scanline;
};

/// The type of SZ_BufftoBuffDecompress(target, target bytes, source, source bytes, parameters), which returns 0 on
/// success.
using SzipDecompress = int(void*, std::size_t*, const void*, std::size_t, SzipParameters*);

constexpr const char* kSzipMissing =
    "chunks that are packed by szip (filter 4) need its library, libsz.so.2, which is not there; install it (Debian: "
    "libsz2)";

/// Returns the function of the system library; nullptr if there is none.
SzipDecompress* load_szip() {
  static SzipDecompress* const function = []() -> SzipDecompress* {
    void* const library = ::dlopen("libsz.so.2", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr
                              : reinterpret_cast<SzipDecompress*>(::dlsym(library, "SZ_BufftoBuffDecompress"));
  }();
  return function;
}

/// Returns the function of the system library.  errors  kSystem: there is none.
SzipDecompress& find_szip_decompress() {
  if (SzipDecompress* const function = load_szip()) return *function;
  base::throw_system_error(ENOENT, kSzipMissing);
}

/// See szip().
class Szip : public codec::Codec {
 public:
  explicit Szip(std::span<const std::uint32_t> values) {
    std::copy_n(values.begin(), std::min(values.size(), values_.size()), values_.begin());
  }
  std::string describe() const override { return "szip"; }
  base::Rejection missing_library() const override {
    return base::Rejection(load_szip() == nullptr ? kSzipMissing : "");
  }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes + bytes / 8 + 64; }
  std::size_t encode(std::span<const std::byte> /*plain*/, std::span<std::byte> /*output*/) const override {
    base::throw_argument_error("Plait reads szip but does not write it; choose another filter");
  }
  std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                     const std::string& what) const override {
    constexpr std::size_t kNumberBytes = 4;
    if (encoded.size() < kNumberBytes)
      codec::throw_damaged(what, "it has ", encoded.size(), " bytes, too few for the number that szip begins with");
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kNumberBytes; ++i) bytes |= std::to_integer<std::size_t>(encoded[i]) << (8 * i);
    if (bytes > output.size())
      codec::throw_damaged(what, "it announces ", bytes, " bytes, but a chunk has ", output.size());
    SzipParameters parameters = check_parameters(what);
    std::size_t decoded_bytes = bytes;
    const int status = find_szip_decompress()(output.data(), &decoded_bytes, encoded.data() + kNumberBytes,
                                              encoded.size() - kNumberBytes, &parameters);
    if (status != 0 || decoded_bytes != bytes) codec::throw_damaged(what, "it is no szip data of ", bytes, " bytes");
    return bytes;
  }

 private:
  /// Checks the filter's values, because the library divides by some of them without a check.
  SzipParameters check_parameters(const std::string& what) const {
    const auto [options, block, bits, line] = values_;
    const bool has_known_bits = (bits >= 1 && bits <= 24) || bits == 32 || bits == 64;
    if (!has_known_bits || block < 2 || block > 32 || block % 2 != 0 || line < 1 || line > 128 * block ||
        options > 0xffff)
      codec::throw_damaged(what, "its filter szip has options ", options, ", blocks of ", block, " pixels of ", bits,
                           " bits and lines of ", line, " pixels, which no library writes");
    return {static_cast<int>(options), static_cast<int>(bits), static_cast<int>(block), static_cast<int>(line)};
  }

  std::array<std::uint32_t, 4> values_{};  // in the order of the filter's values
};

}  // namespace

std::shared_ptr<const codec::Codec> szip(std::span<const std::uint32_t> values) {
  return std::make_shared<Szip>(values);
}

}  // namespace plait::container::hdf5
