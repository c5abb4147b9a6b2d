// Arrays of texts in objects: the decoded chunks are cached for later reads.
#include "container/zarr/texts/text_store.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/zarr/new_array.hpp"
#include "store/objects/memory/memory_objects.hpp"

namespace plait::container::zarr {
namespace {

using Texts = std::vector<std::string>;

/// Counts the reads of chunks that got their bytes, and those that found that the chunk has not changed since.
class ObservedObjects : public store::memory::MemoryObjects {
 public:
  using MemoryObjects::MemoryObjects;
  store::GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                             const store::GetOptions& options) override {
    store::GetResult result = MemoryObjects::get_whole(object, memory, options);
    reads_ += result.found() ? 1 : 0;
    matches_ += result.status == store::GetStatus::kMatch ? 1 : 0;
    return result;
  }
  int reads() const { return reads_; }
  int matches() const { return matches_; }

 private:
  int reads_ = 0;
  int matches_ = 0;
};

/// An array of 4 texts in chunks of 2.
class TextChunks : public testing::Test {
 protected:
  static constexpr std::int64_t kArrayBytes = 4 * ArrayType::kTextBytes;

  TextChunks() {
    FileOptions options;
    options.shape = Extents{4};
    options.dtype = ArrayType::kTexts;
    options.chunk = Extents{2};
    options.fill_value = "\"none\"";
    const NewContent created = new_array("a.zarr", options);
    text_.assign(reinterpret_cast<const char*>(created.head.data()), created.head.size());
  }
  std::unique_ptr<TextStore> open_array(std::shared_ptr<store::ObjectStore> objects, bool is_new = false) const {
    return std::make_unique<TextStore>(std::move(objects), parse_metadata(text_, "a.zarr"), text_, is_new);
  }
  std::shared_ptr<ObservedObjects> objects() const {
    return std::make_shared<ObservedObjects>(bucket_, "a.zarr", false);
  }
  static void write_texts(TextStore& store, const Texts& texts, std::int64_t first = 0) {
    const std::vector<std::byte> elements = store.add_texts(TextBlock(texts));
    store.write({{first * ArrayType::kTextBytes, elements.data(), std::ssize(elements)}});
    store.flush();
  }
  static Texts read(TextStore& store) {
    std::vector<std::byte> elements(kArrayBytes);
    store.read({{0, elements.data(), kArrayBytes}});
    return store.read_texts(elements).to_strings();
  }

  std::shared_ptr<store::memory::Bucket> bucket_ = std::make_shared<store::memory::Bucket>();
  std::string text_;
};

TEST_F(TextChunks, AreDecodedOnceForSeveralReads) {
  write_texts(*open_array(objects(), /*is_new=*/true), {"a", "bb", "ccc", ""});
  const auto observed = objects();
  const auto store = open_array(observed);
  store->resize_cache(1000);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(read(*store), (Texts{"a", "bb", "ccc", ""}));
    EXPECT_EQ(observed->reads(), 2);
    EXPECT_EQ(observed->matches(), 2 * round);
  }
}

TEST_F(TextChunks, AreReadAgainAfterAnotherProgramHasChangedThem) {
  write_texts(*open_array(objects(), /*is_new=*/true), {"a", "bb", "ccc", ""});
  const auto observed = objects();
  const auto store = open_array(observed);
  store->resize_cache(1000);
  (void)read(*store);
  write_texts(*open_array(objects()), {"new"}, 1);
  EXPECT_EQ(read(*store), (Texts{"a", "new", "ccc", ""}));
  EXPECT_EQ(observed->reads(), 3);
  EXPECT_EQ(observed->matches(), 1);
}

TEST_F(TextChunks, HaveNewTextsAfterWritesToCachedChunks) {
  write_texts(*open_array(objects(), /*is_new=*/true), {"a", "bb"});
  const auto store = open_array(objects());
  store->resize_cache(1000);
  EXPECT_EQ(read(*store), (Texts{"a", "bb", "none", "none"}));
  write_texts(*store, {"x"}, 1);
  EXPECT_EQ(read(*store), (Texts{"a", "x", "none", "none"}));
  write_texts(*store, {"y"}, 3);
  EXPECT_EQ(read(*store), (Texts{"a", "x", "none", "y"}));
}

TEST_F(TextChunks, LongTextsDoNotExceedTheCache) {
  write_texts(*open_array(objects(), /*is_new=*/true), {std::string(1000, 'a'), "", std::string(1000, 'c'), ""});
  const auto observed = objects();
  const auto store = open_array(observed);
  store->resize_cache(1000);  // less than two chunks with such texts
  (void)read(*store);
  (void)read(*store);
  EXPECT_EQ(observed->reads(), 4);
  EXPECT_EQ(observed->matches(), 0);
}

}  // namespace
}  // namespace plait::container::zarr
