// Texts in collections of HDF5's global heap: round trips, reads in any order, and damaged files.
#include "container/hdf5/texts/heap_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plait/error.hpp"
#include "store/memory/memory_store.hpp"

namespace {

using namespace plait;
using container::hdf5::HeapTexts;

constexpr auto kElementBytes = static_cast<std::size_t>(ArrayType::kTextBytes);

/// A file in memory, to which texts are appended. Its fill value is "none".
struct HeapFile {
  store::memory::MemoryStore store{64};
  HeapTexts texts{store, "a.h5::t", 0, "none", [this](std::span<const std::byte> collection) {
                    const auto offset = static_cast<std::int64_t>(store.bytes().size());
                    store.bytes().insert(store.bytes().end(), collection.begin(), collection.end());
                    return offset;
                  }};
};

/// Makes texts of 0 to 22 letters, and one that is larger than a usual collection.
std::vector<std::string> make_texts(std::size_t count) {
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) texts[i] = std::string(i % 23, static_cast<char>('a' + i % 26));
  if (count > 2) texts[2] = std::string(100'000, 'x');
  return texts;
}

TEST(HeapTexts, ReadsTheTextsThatItHasAdded) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{150'000}}) {
    HeapFile file;
    const std::vector<std::string> texts = make_texts(count);
    const std::vector<std::byte> elements = file.texts.add_texts(TextBlock(texts));
    ASSERT_EQ(elements.size(), count * kElementBytes);
    EXPECT_EQ(file.texts.read_texts(elements).to_strings(), texts);
  }
}

TEST(HeapTexts, ReadsElementsInAnyOrder) {
  HeapFile file;
  std::vector<std::string> texts = make_texts(5000);
  const std::vector<std::byte> elements = file.texts.add_texts(TextBlock(texts));
  std::vector<std::byte> reversed;
  for (std::size_t i = texts.size(); i-- > 0;)
    reversed.insert(reversed.end(), elements.begin() + static_cast<std::ptrdiff_t>(i * kElementBytes),
                    elements.begin() + static_cast<std::ptrdiff_t>((i + 1) * kElementBytes));
  std::ranges::reverse(texts);
  EXPECT_EQ(file.texts.read_texts(reversed).to_strings(), texts);
}

TEST(HeapTexts, MissingElementsHaveTheFillValueAndZerosAreEmptyTexts) {
  HeapFile file;
  std::vector<std::byte> elements = container::hdf5::missing_text_element();
  elements.resize(2 * kElementBytes);
  EXPECT_EQ(file.texts.read_texts(elements).to_strings(), (std::vector<std::string>{"none", ""}));
}

TEST(HeapTexts, RejectsDamagedFiles) {
  HeapFile file;
  const std::vector<std::byte> elements = file.texts.add_texts(TextBlock(std::vector<std::string>{"ab", "c"}));
  std::vector<std::byte> outside = elements;
  outside[10] = std::byte{0x7f};  // in the address, which is then outside the file
  EXPECT_THROW(file.texts.read_texts(outside), Error);
  std::vector<std::byte> longer = elements;
  longer[0] = std::byte{3};  // the length of "ab"
  EXPECT_THROW(file.texts.read_texts(longer), Error);
  std::vector<std::byte> without_object = elements;
  without_object[12] = std::byte{9};  // the number of the object in the collection, which has 2
  EXPECT_THROW(file.texts.read_texts(without_object), Error);
  file.store.bytes().resize(file.store.bytes().size() - 1);
  EXPECT_THROW(file.texts.read_texts(elements), Error);
}

TEST(HeapTexts, RejectsTextsWithNulAndReadOnlyFiles) {
  HeapFile file;
  EXPECT_THROW(file.texts.add_texts(TextBlock(std::vector<std::string>{std::string("a\0b", 3)})), Error);
  HeapTexts existing(file.store, "a.h5::t", 0, "");
  try {
    (void)existing.add_texts(TextBlock(std::vector<std::string>{"a"}));
    FAIL() << "a text was added to a file that cannot change";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a.h5::t: cannot write texts, because its elements cannot change; write a new file");
  }
}

}  // namespace
