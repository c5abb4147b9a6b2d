#include "container/zarr/unpack.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::container::zarr {

namespace {

template <typename... Parts>
[[noreturn]] void damaged(const std::string& file, const Parts&... why) {
  throw Error(ErrorKind::kSystem,
              base::text("cannot read the chunk ", file, ": ", why..., "; copy or download it again"), EIO);
}

/// zlib's streams, which count bytes by 32 bits.
class Inflation {
 public:
  explicit Inflation(int window_bits) {
    if (inflateInit2(&zlib_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(&zlib_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  void run(std::span<const std::byte> packed, std::span<std::byte> chunk, const std::string& file) {
    std::size_t taken = 0;
    std::size_t made = 0;
    std::byte behind{};  // where a byte too many goes
    for (int result = Z_OK; result != Z_STREAM_END;) {
      const std::size_t in = std::min<std::size_t>(packed.size() - taken, std::numeric_limits<uInt>::max());
      const std::size_t out = std::min<std::size_t>(chunk.size() - made, std::numeric_limits<uInt>::max());
      std::byte* const to = out > 0 ? chunk.data() + made : &behind;
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));  // zlib's type
      zlib_.avail_in = static_cast<uInt>(in);
      zlib_.next_out = reinterpret_cast<Bytef*>(to);
      zlib_.avail_out = out > 0 ? static_cast<uInt>(out) : 1;
      result = inflate(&zlib_, Z_NO_FLUSH);
      const std::size_t now = (out > 0 ? out : 1) - zlib_.avail_out;
      taken += in - zlib_.avail_in;
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        damaged(file, "it is damaged at byte ", taken, " (", zlib_.msg == nullptr ? "no such data" : zlib_.msg, ')');
      if (out == 0 && now > 0) damaged(file, "it has more than the ", chunk.size(), " bytes of a chunk");
      made += out > 0 ? now : 0;
      if (result == Z_BUF_ERROR || (taken == packed.size() && now == 0 && result != Z_STREAM_END))
        damaged(file, "it ends at byte ", packed.size(), " after ", made, " bytes of ", chunk.size());
    }
    if (made != chunk.size()) damaged(file, "it has ", made, " bytes, but a chunk has ", chunk.size());
  }

 private:
  z_stream zlib_{};
};

void unpack_zstd(std::span<const std::byte> packed, std::span<std::byte> chunk, const std::string& file) {
  const std::size_t made = ZSTD_decompress(chunk.data(), chunk.size(), packed.data(), packed.size());
  if (ZSTD_isError(made) != 0)
    damaged(file, "it is no zstd data of ", chunk.size(), " bytes (", ZSTD_getErrorName(made), ')');
  if (made != chunk.size()) damaged(file, "it has ", made, " bytes, but a chunk has ", chunk.size());
}

}  // namespace

void unpack(Packing packing, std::span<const std::byte> packed, std::span<std::byte> chunk, const std::string& file) {
  if (packing == Packing::kZstd) return unpack_zstd(packed, chunk, file);
  Inflation(packing == Packing::kGzip ? 16 + MAX_WBITS : MAX_WBITS).run(packed, chunk, file);
}

}  // namespace plait::container::zarr
