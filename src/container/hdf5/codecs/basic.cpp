// Codecs for HDF5's own filters shuffle and fletcher32, and for h5py's filter lzf.
//
// The Fletcher checksum has two parts: the sum of all words modulo 65,535, and the sum of all intermediate sums.
// Reducing both sums after each word would be slow. They are reduced after every 360 words, because they fit in 32 bits
// until then. Example: the bytes 01 02 03 are the words 0102 and 0300, in hexadecimal. The first part is 0102, then
// 0402; the second is 0102, then 0504. The checksum is 05040402.

#include "container/hdf5/codecs/basic.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "base/errors.hpp"
#include "codec/damaged.hpp"

namespace plait::container::hdf5 {

namespace {

using codec::throw_damaged;
using Bytes = std::span<const std::byte>;
using Output = std::span<std::byte>;

/// Collects the bytes of each element from their planes: byte b of element i is planes[b * count + i]. The template
/// lets the compiler unroll the inner loop for common element sizes.
template <std::size_t kBytes>
void gather_elements(const std::byte* planes, std::byte* elements, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < kBytes; ++b) elements[i * kBytes + b] = planes[b * count + i];
}
/// The inverse of gather_elements().
template <std::size_t kBytes>
void scatter_elements(const std::byte* elements, std::byte* planes, std::size_t count) {
  for (std::size_t b = 0; b < kBytes; ++b)
    for (std::size_t i = 0; i < count; ++i) planes[b * count + i] = elements[i * kBytes + b];
}

/// See shuffle().
class Shuffle : public codec::Codec {
 public:
  explicit Shuffle(std::size_t element_bytes) : bytes_(element_bytes) {}
  std::string describe() const override { return "shuffle"; }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes; }
  std::optional<std::size_t> fixed_encoded_bytes(std::size_t bytes) const override { return bytes; }

  std::size_t encode(Bytes plain, Output output) const override {
    const std::size_t count = plain.size() / bytes_;
    switch (bytes_) {
      case 2: scatter_elements<2>(plain.data(), output.data(), count); break;
      case 4: scatter_elements<4>(plain.data(), output.data(), count); break;
      case 8: scatter_elements<8>(plain.data(), output.data(), count); break;
      default:
        for (std::size_t b = 0; b < bytes_; ++b)
          for (std::size_t i = 0; i < count; ++i) output[b * count + i] = plain[i * bytes_ + b];
    }
    std::ranges::copy(plain.subspan(count * bytes_), output.data() + count * bytes_);
    return plain.size();
  }
  std::size_t decode(Bytes encoded, Output output, const std::string& what) const override {
    if (encoded.size() > output.size())
      throw_damaged(what, "it has ", encoded.size(), " bytes, more than the ", output.size(), " that a chunk has");
    const std::size_t count = encoded.size() / bytes_;
    switch (bytes_) {
      case 2: gather_elements<2>(encoded.data(), output.data(), count); break;
      case 4: gather_elements<4>(encoded.data(), output.data(), count); break;
      case 8: gather_elements<8>(encoded.data(), output.data(), count); break;
      default:
        for (std::size_t b = 0; b < bytes_; ++b)
          for (std::size_t i = 0; i < count; ++i) output[i * bytes_ + b] = encoded[b * count + i];
    }
    std::ranges::copy(encoded.subspan(count * bytes_), output.data() + count * bytes_);
    return encoded.size();
  }

 private:
  std::size_t bytes_;  // of an element
};

/// See fletcher32().
class Fletcher32 : public codec::Codec {
 public:
  static constexpr std::size_t kSumBytes = 4;
  std::string describe() const override { return "fletcher32"; }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes + kSumBytes; }
  std::optional<std::size_t> fixed_encoded_bytes(std::size_t bytes) const override { return bytes + kSumBytes; }

  std::size_t encode(Bytes plain, Output output) const override {
    std::ranges::copy(plain, output.begin());
    const std::uint32_t sum = compute_fletcher32(plain);
    for (std::size_t i = 0; i < kSumBytes; ++i) output[plain.size() + i] = static_cast<std::byte>(sum >> (8 * i));
    return plain.size() + kSumBytes;
  }
  std::size_t decode(Bytes encoded, Output output, const std::string& what) const override {
    if (encoded.size() < kSumBytes || encoded.size() - kSumBytes > output.size())
      throw_damaged(what, "it has ", encoded.size(), " bytes, but a chunk and its check sum have ",
                    output.size() + kSumBytes);
    const Bytes plain = encoded.first(encoded.size() - kSumBytes);
    std::uint32_t stored = 0;
    for (std::size_t i = 0; i < kSumBytes; ++i)
      stored |= std::to_integer<std::uint32_t>(encoded[plain.size() + i]) << (8 * i);
    if (const std::uint32_t sum = compute_fletcher32(plain); sum != stored)
      throw_damaged(what, "its check sum (fletcher32) is ", sum, ", but ", stored, " was stored with it");
    std::ranges::copy(plain, output.begin());
    return plain.size();
  }
};

/// See lzf().
class Lzf : public codec::Codec {
 public:
  std::string describe() const override { return "lzf"; }
  std::size_t max_encoded(std::size_t bytes) const override { return bytes + bytes / 16 + 64; }
  std::size_t encode(Bytes /*plain*/, Output /*output*/) const override {
    base::throw_argument_error("Plait reads lzf but does not write it; choose another filter");
  }
  /// Decodes a sequence of literals and repetitions. A control byte c below 32 is followed by c + 1 literal bytes. Any
  /// other control byte begins a repetition: its top 3 bits are the length minus 2 (if they are 7, the next byte is
  /// added to the length), and its low 5 bits and the following byte are the distance minus 1.
  /// Example: 02 'a' 'b' 'c' 20 02 is 3 literals, then 1 + 2 = 3 bytes from distance 2 + 1 = 3: "abcabc".
  std::size_t decode(Bytes encoded, Output output, const std::string& what) const override {
    std::size_t in = 0;
    std::size_t out = 0;
    const auto next_byte = [&] {
      if (in >= encoded.size()) throw_damaged(what, "it ends within a repetition, at byte ", in);
      return std::to_integer<std::size_t>(encoded[in++]);
    };
    while (in < encoded.size()) {
      const std::size_t control = next_byte();
      if (control < 32) {
        const std::size_t count = control + 1;
        if (count > encoded.size() - in || count > output.size() - out)
          throw_damaged(what, "byte ", in - 1, " announces ", count, " bytes, more than there are or than a chunk has");
        std::memcpy(output.data() + out, encoded.data() + in, count);
        in += count;
        out += count;
        continue;
      }
      std::size_t count = (control >> 5) + 2;
      if (count == 9) count += next_byte();
      const std::size_t distance = ((control & 31) << 8) + next_byte() + 1;
      if (distance > out || count > output.size() - out)
        throw_damaged(what, "byte ", in - 1, " repeats ", count, " bytes at a distance of ", distance, ", and ", out,
                      " bytes of ", output.size(), " are there");
      for (std::size_t i = 0; i < count; ++i, ++out) output[out] = output[out - distance];
    }
    return out;
  }
};

}  // namespace

std::uint32_t compute_fletcher32(std::span<const std::byte> bytes) {
  // Maximum number of words whose sums fit in 32 bits between two reductions.
  constexpr std::size_t kMaxWords = 360;
  // Reduces a sum modulo 65,535, to at most 17 bits: 2^16 is 1 modulo 65,535.
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16); };
  std::uint32_t first_sum = 0;
  std::uint32_t second_sum = 0;
  const std::size_t words = bytes.size() / 2;
  for (std::size_t i = 0; i < words;) {
    const std::size_t end = std::min(i + kMaxWords, words);
    for (; i < end; ++i) {
      first_sum += std::to_integer<std::uint32_t>(bytes[2 * i]) << 8 | std::to_integer<std::uint32_t>(bytes[2 * i + 1]);
      second_sum += first_sum;
    }
    first_sum = fold(first_sum);
    second_sum = fold(second_sum);
  }
  if (bytes.size() % 2 != 0) {
    first_sum = fold(first_sum + (std::to_integer<std::uint32_t>(bytes.back()) << 8));
    second_sum = fold(second_sum + first_sum);
  }
  return fold(second_sum) << 16 | fold(first_sum);
}

std::shared_ptr<const codec::Codec> shuffle(std::size_t bytes) { return std::make_shared<Shuffle>(bytes); }
std::shared_ptr<const codec::Codec> fletcher32() { return std::make_shared<Fletcher32>(); }
std::shared_ptr<const codec::Codec> lzf() { return std::make_shared<Lzf>(); }

}  // namespace plait::container::hdf5
