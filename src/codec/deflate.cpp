#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "codec/codecs.hpp"
#include "codec/damaged.hpp"
#include "codec/libdeflate.hpp"

namespace plait::codec {

namespace {

constexpr std::size_t kMaxBytesPerCall = std::numeric_limits<uInt>::max();  // zlib counts bytes with 32 bits

Bytef* to_bytef(const std::byte* data) {
  return reinterpret_cast<Bytef*>(const_cast<std::byte*>(data));  // zlib's type is not const
}

/// Decompresses one buffer by zlib. window_bits: selects the format, as for inflateInit2().
class Inflation {
 public:
  explicit Inflation(int window_bits) {
    if (inflateInit2(&zlib_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflation() { inflateEnd(&zlib_); }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;

  std::size_t run(std::span<const std::byte> encoded, std::span<std::byte> output, const std::string& what) {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    std::byte past_end{};  // receives a byte that exceeds the output
    for (int result = Z_OK; result != Z_STREAM_END;) {
      const std::size_t input_bytes = std::min(encoded.size() - consumed, kMaxBytesPerCall);
      const std::size_t output_bytes = std::min(output.size() - produced, kMaxBytesPerCall);
      zlib_.next_in = to_bytef(encoded.data() + consumed);
      zlib_.avail_in = static_cast<uInt>(input_bytes);
      zlib_.next_out = to_bytef(output_bytes > 0 ? output.data() + produced : &past_end);
      zlib_.avail_out = output_bytes > 0 ? static_cast<uInt>(output_bytes) : 1;
      result = inflate(&zlib_, Z_NO_FLUSH);
      const std::size_t written = (output_bytes > 0 ? output_bytes : 1) - zlib_.avail_out;
      consumed += input_bytes - zlib_.avail_in;
      if (result == Z_MEM_ERROR) throw std::bad_alloc();
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        throw_damaged(what, "it is damaged at byte ", consumed, " (", zlib_.msg == nullptr ? "no such data" : zlib_.msg,
                      ')');
      if (output_bytes == 0 && written > 0)
        throw_damaged(what, "it has more than the ", output.size(), " bytes of a chunk");
      produced += output_bytes > 0 ? written : 0;
      if (result == Z_BUF_ERROR || (consumed == encoded.size() && written == 0 && result != Z_STREAM_END))
        throw_damaged(what, "it ends at byte ", encoded.size(), " after ", produced, " bytes of ", output.size());
    }
    return produced;
  }

 private:
  z_stream zlib_{};
};

/// Compresses one buffer by zlib. window_bits: selects the format, as for deflateInit2().
class Deflation {
 public:
  Deflation(int level, int window_bits) {
    constexpr int kMemoryLevel = 8;  // the value that deflateInit() uses
    if (deflateInit2(&zlib_, level, Z_DEFLATED, window_bits, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflation() { deflateEnd(&zlib_); }
  Deflation(const Deflation&) = delete;
  Deflation& operator=(const Deflation&) = delete;

  std::size_t run(std::span<const std::byte> plain, std::span<std::byte> output) {
    std::size_t consumed = 0;
    std::size_t produced = 0;
    for (int result = Z_OK; result != Z_STREAM_END;) {
      const std::size_t input_bytes = std::min(plain.size() - consumed, kMaxBytesPerCall);
      const std::size_t output_bytes = std::min(output.size() - produced, kMaxBytesPerCall);
      zlib_.next_in = to_bytef(plain.data() + consumed);
      zlib_.avail_in = static_cast<uInt>(input_bytes);
      zlib_.next_out = to_bytef(output.data() + produced);
      zlib_.avail_out = static_cast<uInt>(output_bytes);
      result = deflate(&zlib_, consumed + input_bytes == plain.size() ? Z_FINISH : Z_NO_FLUSH);
      consumed += input_bytes - zlib_.avail_in;
      produced += output_bytes - zlib_.avail_out;
      if (result != Z_OK && result != Z_STREAM_END) throw std::bad_alloc();  // the buffer is large enough
    }
    return produced;
  }

 private:
  z_stream zlib_{};
};

class Deflate : public Codec {
 public:
  Deflate(bool gzip, int level) : is_gzip_(gzip), level_(level) {}
  std::string describe() const override { return is_gzip_ ? "gzip" : "zlib"; }
  std::size_t max_encoded(std::size_t bytes) const override {
    // Bytes of the gzip frame, which is larger than the zlib frame.
    constexpr std::size_t kFrame = 32;
    return bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 13 + kFrame;  // same bound as compressBound()
  }
  std::size_t encode(std::span<const std::byte> plain, std::span<std::byte> output) const override {
    if (const LibDeflate* const library = libdeflate()) {
      const std::unique_ptr<void, void (*)(void*)> context(library->make_compressor(level_), library->free_compressor);
      if (!context) throw std::bad_alloc();
      const auto compress = is_gzip_ ? library->gzip_compress : library->zlib_compress;
      // libdeflate may need a larger buffer than zlib for incompressible data. It returns 0 then.
      if (const std::size_t produced =
              compress(context.get(), plain.data(), plain.size(), output.data(), output.size());
          produced > 0)
        return produced;
    }
    return Deflation(level_, window_bits()).run(plain, output);
  }
  std::size_t decode(std::span<const std::byte> encoded, std::span<std::byte> output,
                     const std::string& what) const override {
    if (const LibDeflate* const library = libdeflate()) {
      const std::unique_ptr<void, void (*)(void*)> context(library->make_decompressor(), library->free_decompressor);
      if (!context) throw std::bad_alloc();
      const auto decompress = is_gzip_ ? library->gzip_decompress : library->zlib_decompress;
      std::size_t consumed = 0;
      std::size_t produced = 0;
      if (decompress(context.get(), encoded.data(), encoded.size(), output.data(), output.size(), &consumed,
                     &produced) == 0)
        return produced;
    }
    // libdeflate does not report the kind and position of damage. zlib decodes the data again and reports both.
    return Inflation(window_bits()).run(encoded, output, what);
  }

 private:
  /// Returns the argument by which zlib selects the format: 16 more than the window's bits stand for gzip.
  int window_bits() const { return is_gzip_ ? 16 + MAX_WBITS : MAX_WBITS; }
  bool is_gzip_;
  int level_;
};

}  // namespace

std::shared_ptr<const Codec> gzip(int level) { return std::make_shared<Deflate>(/*gzip=*/true, level); }
std::shared_ptr<const Codec> zlib(int level) { return std::make_shared<Deflate>(/*gzip=*/false, level); }

std::size_t inflate_raw(std::span<const std::byte> encoded, std::span<std::byte> output, const std::string& what) {
  return Inflation(-MAX_WBITS).run(encoded, output, what);  // negative: data without a frame
}

}  // namespace plait::codec
