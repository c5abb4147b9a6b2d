#include "codec/libdeflate.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace plait::codec {

const LibDeflate* libdeflate() {
  static const LibDeflate* const found = []() -> const LibDeflate* {
    void* const library = ::dlopen("libdeflate.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    static LibDeflate functions{};
    bool whole = true;
    const auto take = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      whole = whole && function != nullptr;
    };
    take(functions.make_packer, "libdeflate_alloc_compressor");
    take(functions.free_packer, "libdeflate_free_compressor");
    take(functions.zlib_pack, "libdeflate_zlib_compress");
    take(functions.gzip_pack, "libdeflate_gzip_compress");
    take(functions.make_unpacker, "libdeflate_alloc_decompressor");
    take(functions.free_unpacker, "libdeflate_free_decompressor");
    take(functions.zlib_unpack, "libdeflate_zlib_decompress_ex");
    take(functions.gzip_unpack, "libdeflate_gzip_decompress_ex");
    return whole ? &functions : nullptr;
  }();
  return found;
}

}  // namespace plait::codec
