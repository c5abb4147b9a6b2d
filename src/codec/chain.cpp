// Runs chains of codecs with two alternating buffers.
//
// Codec i writes into buffer i mod 2 and reads the output of codec i - 1 from the other one, so that two buffers
// suffice for any number of codecs. Example: shuffle, zstd, crc32c. Encoding writes buffer 0 (shuffled), buffer 1
// (compressed), buffer 0 (with its checksum). Decoding goes in the other direction, and codec 0 writes directly into
// the chunk.

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "codec/buffer.hpp"
#include "codec/codec.hpp"
#include "codec/damaged.hpp"
#include "plait/error.hpp"

namespace plait::codec {

namespace {

/// The two buffers of the calling thread, which serve as input and output in turn.
std::array<Buffer, 2>& buffers() {
  thread_local std::array<Buffer, 2> buffers;
  return buffers;
}

}  // namespace

std::string Chain::describe() const {
  if (codecs_.empty()) return "not packed";
  std::string out;
  for (const auto& codec : codecs_) base::append_parts(out, out.empty() ? "" : ", ", codec->describe());
  return out;
}

base::Rejection Chain::missing_library() const {
  for (const auto& codec : codecs_)
    if (base::Rejection missing = codec->missing_library()) return missing;
  return {};
}

std::size_t Chain::max_encoded(std::size_t bytes, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) bytes = codecs_[i]->max_encoded(bytes);
  return bytes;
}

std::optional<std::size_t> Chain::fixed_encoded_bytes(std::size_t bytes) const {
  for (const auto& codec : codecs_) {
    const std::optional<std::size_t> encoded = codec->fixed_encoded_bytes(bytes);
    if (!encoded) return std::nullopt;
    bytes = *encoded;
  }
  return bytes;
}

std::span<const std::byte> Chain::encode(std::span<const std::byte> plain) const {
  for (std::size_t i = 0; i < codecs_.size(); ++i) {
    const std::span<std::byte> output = buffers()[i % 2].acquire(codecs_[i]->max_encoded(plain.size()));
    plain = output.first(codecs_[i]->encode(plain, output));
  }
  return plain;
}

std::size_t Chain::decode_into(std::span<const std::byte> encoded, std::span<std::byte> chunk,
                               const std::string& what) const {
  std::size_t decoded_bytes = encoded.size();
  if (codecs_.empty()) {
    std::copy_n(encoded.begin(), std::min(decoded_bytes, chunk.size()), chunk.begin());
  }
  for (std::size_t i = codecs_.size(); i-- > 0;) {
    // The first i codecs never encode a chunk to more than this.
    const std::span<std::byte> output = i == 0 ? chunk : buffers()[i % 2].acquire(max_encoded(chunk.size(), i));
    decoded_bytes = codecs_[i]->decode(encoded, output, what);
    encoded = output.first(decoded_bytes);
  }
  return decoded_bytes;
}

std::vector<std::byte> Chain::decode(std::span<const std::byte> encoded, std::size_t max_bytes,
                                     const std::string& what) const {
  if (codecs_.empty()) return {encoded.begin(), encoded.end()};
  // Codecs do not distinguish damaged data from data that exceeds the output, so both are decoded again with a larger
  // output.
  constexpr std::size_t kGrowth = 8;
  for (std::size_t bytes = std::min(std::max<std::size_t>(kGrowth * encoded.size(), 1U << 16U), max_bytes);;
       bytes = std::min(kGrowth * bytes, max_bytes)) {
    const auto output = std::make_unique_for_overwrite<std::byte[]>(bytes);
    try {
      const std::size_t decoded_bytes = decode_into(encoded, {output.get(), bytes}, what);
      return {output.get(), output.get() + decoded_bytes};
    } catch (const Error&) {
      if (bytes == max_bytes) throw;
    }
  }
}

void Chain::decode(std::span<const std::byte> encoded, std::span<std::byte> chunk, const std::string& what) const {
  const std::size_t decoded_bytes = decode_into(encoded, chunk, what);
  if (decoded_bytes != chunk.size())
    throw_damaged(what, "it has ", decoded_bytes, " bytes, but a chunk has ", chunk.size());
}

}  // namespace plait::codec
