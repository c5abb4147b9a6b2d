// Texts in the global heap.
//
// An element has 16 bytes: the length of the text (4), the address of a collection of the heap (8), and the number of
// an object in it (4). Elements are read, converted between layouts and written like numbers, by any number of ranks.
// Each rank then reads the texts of the elements that it got from the heap, and each collection once.
//
// Example: a(6) in the layout (cyclic) onto (2). Rank 1 gets the elements of a(1), a(3) and a(5), which refer to
// objects 2 and 4 of the collection at 4,096 and to object 2 of the collection at 8,192. It reads both collections, and
// takes three texts from them.

#include "container/hdf5/texts/heap_texts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "container/hdf5/ranges/block_cache.hpp"
#include "container/hdf5/texts/heap_collection.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr auto kElementBytes = static_cast<std::size_t>(ArrayType::kTextBytes);
constexpr std::uint64_t kUndefinedAddress = ~std::uint64_t{0};

/// An element of an array of texts.
struct TextElement {
  std::uint32_t bytes = 0;    ///< length of the text
  std::uint64_t address = 0;  ///< 0 or kUndefinedAddress if there is no text
  std::uint32_t object = 0;   ///< number of the object in the collection at `address`

  /// Returns true if the text is empty or missing.
  bool is_null() const { return address == 0 || address == kUndefinedAddress || bytes == 0; }
  /// Returns true for missing_text_element(), which stands for the fill value.
  bool is_missing() const { return address == kUndefinedAddress && bytes == UINT32_MAX; }
};

TextElement decode(std::span<const std::byte> element) {
  TextElement text;
  std::memcpy(&text.bytes, element.data(), sizeof text.bytes);
  std::memcpy(&text.address, element.data() + 4, sizeof text.address);
  std::memcpy(&text.object, element.data() + 12, sizeof text.object);
  return text;
}

void encode(const TextElement& text, std::span<std::byte> element) {
  std::memcpy(element.data(), &text.bytes, sizeof text.bytes);
  std::memcpy(element.data() + 4, &text.address, sizeof text.address);
  std::memcpy(element.data() + 12, &text.object, sizeof text.object);
}

/// Reads collections. Those of an object in an object store are read by requests that are in flight together.
class CollectionReader {
 public:
  /// addresses: all collections that are read, in ascending order, with repetitions.
  CollectionReader(store::Store& file, std::int64_t base, const std::string& name, std::vector<std::uint64_t> addresses)
      : file_(file), base_(base), name_(name), addresses_(std::move(addresses)) {
    const auto repeated = std::ranges::unique(addresses_);
    addresses_.erase(repeated.begin(), repeated.end());
  }

  /// Reads a collection. The calls must be in the order of `addresses`.
  HeapCollection read(std::uint64_t address) {
    if (!file_.object_identity()) return {file_, offset(address), name_};
    if (next_ < addresses_.size() && addresses_[next_] == address && next_ % kMaxInFlight == 0) {
      std::vector<FileRange> ranges;
      for (std::size_t i = next_; i < std::min(next_ + kMaxInFlight, addresses_.size()); ++i)
        ranges.push_back({offset(addresses_[i]), kCollectionBytes});
      cache_.drop_ranges();
      cache_.prefetch(file_, ranges);
    }
    ++next_;
    CachedStore cached(file_, cache_);
    return {cached, offset(address), name_};
  }

 private:
  static constexpr std::size_t kMaxInFlight = 1024;
  static constexpr std::int64_t kCollectionBytes = 4096;  // most collections of other programs have this size
  std::int64_t offset(std::uint64_t address) const { return static_cast<std::int64_t>(address) + base_; }

  store::Store& file_;
  const std::int64_t base_;
  const std::string& name_;
  std::vector<std::uint64_t> addresses_;
  std::size_t next_ = 0;
  BlockCache cache_;
};

}  // namespace

std::vector<std::byte> missing_text_element() {
  std::vector<std::byte> element(kElementBytes);
  encode({UINT32_MAX, kUndefinedAddress, 0}, element);
  return element;
}

TextBlock HeapTexts::read_texts(std::span<const std::byte> elements) {
  const std::size_t count = elements.size() / kElementBytes;
  TextBlock texts(count);
  std::vector<TextElement> decoded(count);
  for (std::size_t i = 0; i < count; ++i) decoded[i] = decode(elements.subspan(i * kElementBytes, kElementBytes));
  // Visit elements by ascending address, to read each collection once. Most arrays are stored in this order already.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto address = [&](std::size_t i) { return decoded[i].address; };
  if (!std::ranges::is_sorted(order, {}, address)) std::ranges::sort(order, {}, address);
  std::vector<std::uint64_t> addresses;
  const auto max_address = static_cast<std::uint64_t>(INT64_MAX) - static_cast<std::uint64_t>(base_);
  for (const std::size_t i : order)
    if (!decoded[i].is_null() && decoded[i].address <= max_address) addresses.push_back(decoded[i].address);
  CollectionReader reader(file_, base_, name_, std::move(addresses));
  std::optional<HeapCollection> collection;
  std::uint64_t collection_address = 0;
  for (const std::size_t i : order) {
    if (decoded[i].is_missing()) texts.set(i, fill_text_);
    if (decoded[i].is_null()) continue;
    if (!collection || collection_address != decoded[i].address) {
      collection_address = decoded[i].address;
      if (collection_address > max_address)
        base::throw_system_error(EIO, "cannot read texts of ", name_, ": element ", i,
                                 " of this read refers to offset ", collection_address,
                                 ", which is outside the file; copy or download the file again");
      collection.emplace(reader.read(collection_address));
    }
    // Some writers store the terminating NUL as part of the text. Like the library, end at the first NUL.
    const std::string_view text = collection->object(decoded[i].object, decoded[i].bytes);
    texts.set(i, text.substr(0, text.find('\0')));
  }
  return texts;
}

std::vector<std::byte> HeapTexts::add_texts(const TextBlock& texts) {
  if (!append_)
    base::throw_argument_error(name_, ": cannot write texts, because its elements cannot change; write a new file");
  std::vector<TextElement> added(texts.size());
  NewHeapCollection collection;
  std::size_t first = 0;  // the first text of the collection
  // Appends the collection to the file, and sets the address of the texts before `end`, which it contains.
  const auto append_collection = [&](std::size_t end) {
    if (!collection.empty()) {
      const auto address = static_cast<std::uint64_t>(append_(collection.finish()) - base_);
      for (; first < end; ++first)
        if (added[first].object != 0) added[first].address = address;
      collection.clear();
    }
    first = end;
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts[i];
    if (text.find('\0') != std::string_view::npos || text.size() >= UINT32_MAX)
      base::throw_argument_error(name_, ": the text at position ", i, " of this write ",
                                 text.size() >= UINT32_MAX ? "has 4 GiB or more" : "contains a NUL character",
                                 ", which texts of HDF5 cannot have; leave it out, or write a .zarr");
    if (text.empty()) continue;
    added[i].bytes = static_cast<std::uint32_t>(text.size());
    added[i].object = collection.add(text);
    if (collection.is_full()) append_collection(i + 1);
  }
  append_collection(texts.size());
  std::vector<std::byte> elements(texts.size() * kElementBytes);
  for (std::size_t i = 0; i < texts.size(); ++i)
    encode(added[i], std::span(elements).subspan(i * kElementBytes, kElementBytes));
  return elements;
}

}  // namespace plait::container::hdf5
