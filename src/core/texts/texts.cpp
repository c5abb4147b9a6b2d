// Texts of any length.
//
// The references to texts are read and written as elements of other types are. The two calls of this file convert them
// to texts and back, on all ranks together, so that an error of one rank is an error of all.

#include "plait/texts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "collective/collective.hpp"
#include "collective/gather.hpp"
#include "container/npy/encoding.hpp"
#include "core/file/file_impl.hpp"

namespace plait {

namespace {

/// Returns the access to the texts of an open file.  errors  kArgument: its elements are no texts of any length.
template <class Impl>
container::TextAccess& find_texts(Impl& file) {
  file.storage().check_open();
  container::TextAccess* const texts = file.storage().texts();
  if (texts == nullptr || !file.selection().array().type.has_texts())
    base::throw_argument_error(file.context().path(), " holds elements of dtype ", file.selection().array().type.dtype,
                               " here, but texts of any length were requested; read or write its elements, or open an "
                               "array of dtype text in a file of HDF5, netCDF-4 or Zarr");
  return *texts;
}

/// Checks that all texts are UTF-8.  access: `read` or `write`, for the error.
void check_utf8(const TextBlock& texts, const std::string& path, const char* access) {
  if (container::npy::is_ascii(texts.bytes())) return;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (container::npy::is_utf8(texts[i])) continue;
    std::string bytes;
    constexpr std::size_t kMaxShownBytes = 12;
    for (std::size_t position = 0; position < std::min(texts[i].size(), kMaxShownBytes); ++position)
      base::append_parts(bytes, position == 0 ? "" : " ",
                         static_cast<int>(static_cast<unsigned char>(texts[i][position])));
    const std::string why = base::text(path, ": the text at position ", i, " of this ", access,
                                       " is not UTF-8 (its bytes begin with ", bytes, "); expected texts in UTF-8");
    if (std::string_view(access) == "write") base::throw_argument_error(why, "; convert them");
    base::throw_system_error(EILSEQ, why, "; read the bytes with the format's own library");
  }
}

/// The lengths of texts, and their bytes.
using EncodedTexts = std::pair<std::vector<std::uint64_t>, std::string>;

std::string encode_texts(const TextBlock& texts) {
  EncodedTexts encoded;
  auto& [lengths, bytes] = encoded;
  lengths.reserve(texts.size());
  bytes.reserve(texts.bytes().size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lengths.push_back(texts[i].size());
    bytes.append(texts[i]);
  }
  return base::encode(encoded);
}

/// Returns the texts of all ranks, and sets `first_own` to the position of those of this rank.
TextBlock gather_texts(transport::Transport& transport, const TextBlock& texts, std::size_t& first_own) {
  const std::vector<std::string> encoded = collective::gather_to_all(transport, [&] { return encode_texts(texts); });
  TextBlock all;
  for (std::size_t rank = 0; rank < encoded.size(); ++rank) {
    if (std::cmp_equal(rank, transport.rank())) first_own = all.size();
    const auto [lengths, bytes] = base::decode<EncodedTexts>(encoded[rank], base::kAnotherRank);
    std::size_t position = 0;
    for (const std::uint64_t length : lengths) {
      all.add(std::string_view(bytes).substr(position, length));
      position += length;
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> Texts::read(std::span<const std::byte> elements) {
  std::vector<std::string> texts;
  read_and_convert(elements, [&](const TextBlock& block) { texts = block.to_strings(); });
  return texts;
}

TextBlock Texts::read_block(std::span<const std::byte> elements) {
  return read_and_convert(elements, [](const TextBlock&) {});
}

TextBlock Texts::read_and_convert(std::span<const std::byte> elements,
                                  const std::function<void(const TextBlock&)>& convert) {
  File::Impl& file = *file_.impl_;
  TextBlock texts;
  file.context().call([&] {
    container::TextAccess& access = find_texts(file);
    file.storage().call_together([&](transport::Transport& transport) {
      collective::Collective call(transport, [&] { return "Texts::read() of " + file.context().name(); }, [] {});
      call.run_phase([&] {
        texts = access.read_texts(elements);
        check_utf8(texts, file.context().path(), "read");
        convert(texts);
      });
    });
  });
  return texts;
}

std::vector<std::byte> Texts::add(std::span<const std::string> texts) {
  TextBlock block;
  return make_and_add(block, [&] { block = TextBlock(texts); });
}

std::vector<std::byte> Texts::add_block(const TextBlock& texts) {
  return make_and_add(texts, [] {});
}

std::vector<std::byte> Texts::make_and_add(const TextBlock& texts, const std::function<void()>& make) {
  File::Impl& file = *file_.impl_;
  std::vector<std::byte> elements;
  file.context().call([&] {
    file.context().check_writable();
    container::TextAccess& access = find_texts(file);
    file.storage().call_together([&](transport::Transport& transport) {
      collective::Collective call(
          transport, [&] { return "Texts::add() of " + file.context().name(); },
          [&] {
            make();
            check_utf8(texts, file_.path(), "write");
          });
      if (access.shares_elements() || transport.size() == 1) {
        call.run_phase([&] { elements = access.add_texts(texts); });
        return;
      }
      std::size_t first_own = 0;
      const TextBlock all = gather_texts(transport, texts, first_own);
      call.run_phase([&] {
        const std::vector<std::byte> added = access.add_texts(all);
        const auto begin = added.begin() + static_cast<std::ptrdiff_t>(first_own * ArrayType::kTextBytes);
        elements.assign(begin, begin + static_cast<std::ptrdiff_t>(texts.size() * ArrayType::kTextBytes));
      });
    });
  });
  return elements;
}

}  // namespace plait
