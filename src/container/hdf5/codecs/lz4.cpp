// Loading liblz4, and decoding the blocks of HDF5's filter 32004.

#include "container/hdf5/codecs/lz4.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "base/errors.hpp"
#include "codec/damaged.hpp"

namespace plait::container::hdf5 {

namespace {

/// The type of LZ4_decompress_safe(source, target, source bytes, target bytes), which returns the number of bytes
/// written, or a negative number if it fails.
using Decompress = int(const char*, char*, int, int);

constexpr const char* kLz4Missing =
    "chunks that are packed by lz4 (filter 32004) need its library, liblz4.so.1, which is not there; install it "
    "(Debian: liblz4-1)";

/// Returns the function of the system library; nullptr if there is none.
Decompress* load_lz4() {
  static Decompress* const function = []() -> Decompress* {
    void* const library = ::dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Decompress*>(::dlsym(library, "LZ4_decompress_safe"));
  }();
  return function;
}

/// Returns the function of the system library.  errors  kSystem: there is none.
Decompress& find_decompress() {
  if (Decompress* const function = load_lz4()) return *function;
  base::throw_system_error(ENOENT, kLz4Missing);
}

/// See lz4().
class Lz4 : public codec::Codec {
 public:
  std::string describe() const override { return "lz4"; }
  base::Rejection missing_library() const override { return base::Rejection(load_lz4() == nullptr ? kLz4Missing : ""); }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes + bytes / 128 + 64; }
  std::size_t encode(std::span<const std::byte> /*plain*/, std::span<std::byte> /*output*/) const override {
    base::throw_argument_error("Plait reads lz4 but does not write it; choose another filter");
  }
  /// Decodes big-endian numbers and blocks: the total size (8 bytes), the size of a block (4), then for each block its
  /// compressed size (4) and that many bytes. A block whose two sizes are equal is not compressed.
  std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                     const std::string& what) const override {
    std::size_t in = 0;
    const auto read_number = [&](std::size_t bytes) {
      if (bytes > encoded.size() - in)
        codec::throw_damaged(what, "it ends at byte ", encoded.size(), " within a number");
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(encoded[in++]);
      return value;
    };
    const std::uint64_t plain_bytes = read_number(8);
    const std::uint64_t block_bytes = read_number(4);
    if (plain_bytes > output.size() || (block_bytes == 0 && plain_bytes > 0) ||
        block_bytes > std::numeric_limits<int>::max())
      codec::throw_damaged(what, "it announces ", plain_bytes, " bytes in blocks of ", block_bytes,
                           ", but a chunk has ", output.size());
    for (std::size_t out = 0; out < plain_bytes;) {
      const std::size_t bytes = std::min<std::size_t>(block_bytes, plain_bytes - out);
      const std::uint64_t length = read_number(4);
      if (length > encoded.size() - in)
        codec::throw_damaged(what, "a block at byte ", in, " has ", length, " bytes, more than there are");
      const std::span<const std::byte> from = encoded.subspan(in, length);
      if (length == bytes) {
        std::ranges::copy(from, output.begin() + static_cast<std::ptrdiff_t>(out));
      } else if (find_decompress()(reinterpret_cast<const char*>(from.data()),
                                   reinterpret_cast<char*>(output.data() + out), static_cast<int>(length),
                                   static_cast<int>(bytes)) != static_cast<int>(bytes)) {
        codec::throw_damaged(what, "a block at byte ", in, " is no lz4 data of ", bytes, " bytes");
      }
      in += length;
      out += bytes;
    }
    return plain_bytes;
  }
};

}  // namespace

std::shared_ptr<const codec::Codec> lz4() { return std::make_shared<Lz4>(); }

}  // namespace plait::container::hdf5
