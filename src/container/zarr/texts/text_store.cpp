// Reading and writing texts of any length.
//
// Problem: plans and exchanges move elements of a fixed size, and a chunk of texts has any size.
//
// Idea: an element is a reference of 16 bytes: the number of a chunk plus 1 (8), and the number of the text in the
// chunk (8). References are computed, not read, so that any layout of them costs little. Each rank then reads the
// chunks of its own texts. For a write, an element consists of -1 and the number of a text that add_texts() has stored
// in memory. All ranks store all texts, so the rank that writes a chunk has them.
//
// Example: shape (5), chunks of 2. Elements 0 to 4 are (1, 0), (1, 1), (2, 0), (2, 1) and (3, 0). A rank that reads
// elements 1 and 4 decodes chunks 0 and 2. A write of elements 0 and 1 after add_texts("a", "b") passes (-1, 0) and
// (-1, 1), from which chunk 0 is encoded. After the next add_texts("c") its element is (-1, 2).

#include "container/zarr/texts/text_store.hpp"

#include <cstring>
#include <map>
#include <utility>

#include "base/errors.hpp"
#include "container/chunks/chunk_pieces.hpp"
#include "container/zarr/texts/vlen.hpp"
#include "store/pending_call.hpp"

namespace plait::container::zarr {

namespace {

constexpr auto kReferenceBytes = static_cast<std::size_t>(ArrayType::kTextBytes);
constexpr std::int64_t kAddedText = -1;

struct TextElement {
  std::int64_t chunk = 0;  ///< number of a chunk plus 1; 0 for the empty text; kAddedText for a text in memory
  std::int64_t text = 0;
};

TextElement decode(const std::byte* element) {
  TextElement found;
  std::memcpy(&found, element, kReferenceBytes);
  return found;
}

}  // namespace

TextStore::TextStore(std::shared_ptr<store::ObjectStore> objects, Metadata metadata, std::string text, bool is_new)
    : ChunkStore(std::move(objects), std::move(metadata), std::move(text), is_new),
      decoded_(this->metadata().chunk_bytes) {}

void TextStore::flush() {
  ChunkStore::flush();
  decoded_.clear();  // for the reason in ChunkStore::flush()
}

std::size_t TextStore::chunk_texts() const {
  return static_cast<std::size_t>(metadata().chunk_bytes) / kReferenceBytes;
}

std::unique_ptr<store::Pending> TextStore::submit_read(std::vector<store::ReadSegment> segments) {
  return std::make_unique<store::PendingCall>([this, segments = std::move(segments)] {
    const auto count = static_cast<std::int64_t>(chunk_texts());
    for (const store::ReadSegment& segment : segments) {
      check("read", segment.offset, segment.bytes);
      const std::int64_t first = segment.offset / ArrayType::kTextBytes;
      TextElement element{first / count + 1, first % count};
      for (std::int64_t at = 0; at < segment.bytes; at += ArrayType::kTextBytes) {
        std::memcpy(segment.data + at, &element, kReferenceBytes);
        if (++element.text == count) element = {element.chunk + 1, 0};
      }
    }
  });
}

std::unique_ptr<store::Pending> TextStore::submit_write(std::vector<store::WriteSegment> segments) {
  return std::make_unique<store::PendingCall>([this, segments = std::move(segments)] {
    PartsOfChunk together(
        [this](std::int64_t number, const std::vector<store::WriteSegment>& parts) { write_texts(number, parts); });
    for (const store::WriteSegment& segment : segments) {
      check("write", segment.offset, segment.bytes);
      for_each_chunk(metadata().chunk_bytes, segment.offset, segment.bytes,
                     [&](std::int64_t number, std::int64_t within, std::int64_t done, std::int64_t bytes) {
                       together.add(number, {within, segment.data + done, bytes});
                     });
    }
    together.finish();
  });
}

std::shared_ptr<const TextStore::TextChunk> TextStore::read_chunk(std::int64_t number) {
  std::shared_ptr<const TextChunk> cached = decoded_.find(number);
  std::vector<std::byte> encoded;
  const auto memory = [&](std::int64_t bytes) {
    encoded.resize(static_cast<std::size_t>(bytes));
    return std::span(encoded);
  };
  ChunkResult result =
      chunks().read(number, memory, {.identity = !chunks().is_new(), .unless = cached ? &cached->identity : nullptr});
  if (result.status == ChunkStatus::kSame) return cached;
  auto made = std::make_shared<TextChunk>();
  made->number = number;
  made->identity = std::move(result.identity);
  if (result.status != ChunkStatus::kRead) return made;
  const std::string what = chunks().describe(number);
  made->bytes = metadata().codecs.decode(encoded, static_cast<std::size_t>(kMaxCompressed), what);
  made->texts = decode_texts(made->bytes, chunk_texts(), what);
  // A chunk that is written in place may change again within the resolution of its times, so it is not cached.
  if (!chunks().is_new() && made->identity != store::ObjectIdentity{}) decoded_.insert(made, made->memory_bytes());
  return made;
}

TextBlock TextStore::read_texts(std::span<const std::byte> elements) {
  TextBlock texts(elements.size() / kReferenceBytes);
  // For each chunk, the texts that are needed from it: (position in `texts`, position in the chunk).
  std::map<std::int64_t, std::vector<std::pair<std::size_t, std::size_t>>> by_chunk;
  const std::int64_t all = size() / metadata().chunk_bytes;
  std::vector<std::pair<std::size_t, std::size_t>>* last = nullptr;
  std::int64_t last_chunk = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const TextElement element = decode(elements.data() + i * kReferenceBytes);
    if (element.chunk == 0) continue;
    if (element.chunk < 0 || element.chunk > all || element.text < 0 ||
        element.text >= static_cast<std::int64_t>(chunk_texts()))
      base::throw_argument_error(name(), ": element ", i,
                                 " does not refer to a text of this file; pass elements that a read has returned");
    if (last == nullptr || element.chunk != last_chunk) last = &by_chunk[last_chunk = element.chunk];
    last->emplace_back(i, static_cast<std::size_t>(element.text));
  }
  for (const auto& [chunk, positions] : by_chunk) {
    const std::shared_ptr<const TextChunk> found = read_chunk(chunk - 1);
    for (const auto& [to, from] : positions)
      texts.set(to, found->texts.empty() ? metadata().fill_text : found->texts[from]);
  }
  return texts;
}

std::vector<std::byte> TextStore::add_texts(const TextBlock& texts) {
  first_added_ += static_cast<std::int64_t>(added_.size());
  added_ = texts;
  std::vector<std::byte> elements(texts.size() * kReferenceBytes);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const TextElement element{kAddedText, first_added_ + static_cast<std::int64_t>(i)};
    std::memcpy(elements.data() + i * kReferenceBytes, &element, kReferenceBytes);
  }
  return elements;
}

std::string_view TextStore::find_written_text(std::int64_t number, const TextChunk& former,
                                              std::span<const std::byte> bytes) const {
  const TextElement element = decode(bytes.data());
  if (element.chunk == 0) return {};
  const bool is_former = element.chunk == number + 1 && element.text >= 0 && std::cmp_less(element.text, chunk_texts());
  if (is_former)
    return former.texts.empty() ? metadata().fill_text : former.texts[static_cast<std::size_t>(element.text)];
  const std::int64_t at = element.text - first_added_;
  if (element.chunk != kAddedText || at < 0 || std::cmp_greater_equal(at, added_.size()))
    base::throw_argument_error(
        name(), ": an element that is written, (", element.chunk, ", ", element.text,
        "), is no text that was added last; add the texts, then write the elements that refer to "
        "them");
  return added_[static_cast<std::size_t>(at)];
}

bool TextStore::has_former_texts(std::int64_t number, const std::vector<store::WriteSegment>& parts) {
  for (const store::WriteSegment& part : parts)
    for (std::int64_t at = 0; at < part.bytes; at += ArrayType::kTextBytes)
      if (decode(part.data + at).chunk == number + 1) return true;
  return false;
}

void TextStore::write_texts(std::int64_t number, const std::vector<store::WriteSegment>& parts) {
  std::int64_t bytes = 0;
  for (const store::WriteSegment& part : parts) bytes += part.bytes;
  // An access that changes a part of a range reads all elements of the range and writes them back, so parts may refer
  // to texts of the former chunk.
  const bool needed =
      bytes < (chunks().is_new() ? bytes_inside(number) : metadata().chunk_bytes) || has_former_texts(number, parts);
  const std::shared_ptr<const TextChunk> former = needed ? read_chunk(number) : std::make_shared<TextChunk>();
  std::vector<std::string_view> texts =
      former->texts.empty() ? std::vector<std::string_view>(chunk_texts(), metadata().fill_text) : former->texts;
  for (const store::WriteSegment& part : parts) {
    const std::span elements(part.data, static_cast<std::size_t>(part.bytes));
    const std::size_t first = static_cast<std::size_t>(part.offset) / kReferenceBytes;
    for (std::size_t i = 0; i < elements.size() / kReferenceBytes; ++i)
      texts[first + i] = find_written_text(number, *former, elements.subspan(i * kReferenceBytes, kReferenceBytes));
  }
  store::Condition from;
  if (needed && !chunks().is_new()) from = former->identity;
  const std::vector<std::byte> encoded = encode_texts(texts, chunks().describe(number));
  chunks().put(number, metadata().codecs.encode(encoded), from);
}

}  // namespace plait::container::zarr
