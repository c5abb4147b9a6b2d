#include <dlfcn.h>

#include <algorithm>
#include <limits>

#include "base/errors.hpp"
#include "codec/codecs.hpp"
#include "codec/damaged.hpp"

namespace plait::codec {

namespace {

/// The functions of c-blosc 1.21 that Plait uses. They have no state and start no threads.
struct Blosc {
  int (*compress)(int, int, std::size_t, std::size_t, const void*, void*, std::size_t, const char*, std::size_t, int);
  int (*decompress)(const void*, void*, std::size_t, int);
  int (*validate)(const void*, std::size_t, std::size_t*);
};

/// Returns the functions of the library, which the first call loads; nullptr if it is not installed.
const Blosc* find_library() {
  static const Blosc* const loaded = []() -> const Blosc* {
    void* const library = ::dlopen("libblosc.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    static Blosc functions{};
    functions.compress = reinterpret_cast<decltype(functions.compress)>(::dlsym(library, "blosc_compress_ctx"));
    functions.decompress = reinterpret_cast<decltype(functions.decompress)>(::dlsym(library, "blosc_decompress_ctx"));
    functions.validate = reinterpret_cast<decltype(functions.validate)>(::dlsym(library, "blosc_cbuffer_validate"));
    const bool is_complete =
        functions.compress != nullptr && functions.decompress != nullptr && functions.validate != nullptr;
    return is_complete ? &functions : nullptr;
  }();
  return loaded;
}

constexpr const char* kMissing =
    "chunks that are packed by blosc need its library, libblosc.so.1 of version 1.16 or later, which is not there; "
    "install it (Debian: libblosc1)";

/// Returns the functions of the library.  errors  kSystem: it is not installed.
const Blosc& require_library() {
  if (const Blosc* functions = find_library()) return *functions;
  base::throw_system_error(ENOENT, kMissing);
}

constexpr std::size_t kHeaderBytes = 16;  // BLOSC_MAX_OVERHEAD

class BloscCodec : public Codec {
 public:
  explicit BloscCodec(BloscOptions options) : options_(std::move(options)) {
    constexpr int kMaxElementBytes = 255;
    if (options_.element_bytes < 1 || options_.element_bytes > kMaxElementBytes) options_.element_bytes = 1;
  }
  std::string describe() const override { return base::text("blosc ", options_.compressor); }
  base::Rejection missing_library() const override {
    return base::Rejection(find_library() == nullptr ? kMissing : "");
  }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes + kHeaderBytes; }
  std::size_t encode(std::span<const std::byte> plain, std::span<std::byte> output) const override {
    if (plain.size() > std::numeric_limits<int>::max() - kHeaderBytes)
      base::throw_argument_error("blosc packs at most 2 GiB at once, but a chunk has ", plain.size(),
                                 " bytes; give smaller chunks");
    const int result_bytes = require_library().compress(
        options_.level, options_.shuffle, static_cast<std::size_t>(options_.element_bytes), plain.size(), plain.data(),
        output.data(), output.size(), options_.compressor.c_str(), 0, 1);
    if (result_bytes <= 0)
      base::throw_system_error(ENOTSUP, "blosc cannot pack by ", options_.compressor,
                               "; install a libblosc that has it");
    return static_cast<std::size_t>(result_bytes);
  }
  std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                     const std::string& what) const override {
    const Blosc& blosc = require_library();
    std::size_t bytes = 0;
    if (encoded.size() < kHeaderBytes || blosc.validate(encoded.data(), encoded.size(), &bytes) < 0)
      throw_damaged(what, "it is no blosc data of ", encoded.size(), " bytes");
    if (bytes > output.size())
      throw_damaged(what, "it has ", bytes, " bytes, more than the ", output.size(), " of a chunk");
    const int result_bytes = blosc.decompress(encoded.data(), output.data(), output.size(), 1);
    if (result_bytes < 0 || static_cast<std::size_t>(result_bytes) != bytes)
      throw_damaged(what, "it is no blosc data of ", output.size(), " bytes (code ", result_bytes,
                    "), or packed in a way that this libblosc lacks");
    return bytes;
  }

 private:
  BloscOptions options_;
};

}  // namespace

std::shared_ptr<const Codec> blosc(const BloscOptions& options) { return std::make_shared<BloscCodec>(options); }

}  // namespace plait::codec
