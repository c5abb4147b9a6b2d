// Layouts with copies, alignment, nested and indirect distributions, rank maps and halos: functions of single indices
// agree with those of whole sets, and conversions deliver each element once.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "layout/owner_map.hpp"
#include "oracle.hpp"
#include "plait/conversion.hpp"
#include "plan/conversion/products.hpp"

namespace {

using oracle::to_size_t;
using plait::Extents;
using plait::IndexSet;
using plait::Layout;

/// Makes random texts of layouts. Each text uses one of the features that this file tests.
class RandomLayoutTexts {
 public:
  explicit RandomLayoutTexts(unsigned seed) : random_(seed) {}

  /// Returns the text of a random one-dimensional layout of `size` indices.
  std::string make_text(std::int64_t size) {
    const std::string shape = std::to_string(size) + " ";
    const auto random_number = [&](int low, int high) { return std::to_string(number(low, high)); };
    switch (number(0, 9)) {
      case 0:
        return shape + "(" + distribution() + ") onto (4) source=(" + random_number(0, 3) + ")" + reverse() + offset();
      case 1: return shape + "(" + distribution() + "@(1, 0)) onto (2, 3)";
      case 2: return shape + "(" + distribution() + "/" + distribution() + ") onto (2, 3)";
      case 3: return shape + "(" + distribution() + "@1/" + distribution() + "@0) onto (2, 3)" + offset();
      case 4: return shape + "(indirect(0*2, 2, 1*" + random_number(1, 4) + ", 0, ...)) onto (3)";
      case 5:
        return shape + "(" + distribution() + ") onto (3, 2) replicate=(1) ranks=" + (number(0, 1) == 0 ? "F" : "C");
      case 6: return shape + "(" + distribution() + ") onto (4) ranks=(5, 1, 0, 3)";
      case 7: {
        const int scale = number(-4, 4);
        if (scale == 0) return shape + "(*)";
        const std::int64_t last = (size > 0 ? size - 1 : 0) * scale;
        const std::int64_t begin = scale < 0 ? -last : 0;
        const std::int64_t extent = (scale < 0 ? begin : last) + 1 + number(0, 3);
        return shape + "(" + distribution() + ") onto (3) template=" + std::to_string(extent) + " align=(" +
               std::to_string(scale) + "*d0+" + std::to_string(begin) + ")" + reverse();
      }
      case 8:
        return shape + "(block, " + distribution() + ") onto (2, 3) template=5x" + std::to_string(size) + " align=(" +
               (number(0, 1) == 0 ? "*" : random_number(0, 4)) + ", d0)";
      default:
        return shape + "(block) onto (3) halo=(1:" + random_number(0, 1) + ")" +
               (number(0, 1) == 0 ? " periodic=(0)" : "");
    }
  }

  /// Returns a random number in [low, high].
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  /// Return a random distribution, and options that are absent in half of the texts.
  std::string distribution() {
    static const char* const kDistributions[] = {"block", "balanced", "cyclic", "cyclic(2)", "cyclic(3)"};
    return kDistributions[number(0, 4)];
  }
  std::string reverse() { return number(0, 1) == 0 ? "" : " reverse=(0)"; }
  std::string offset() { return number(0, 1) == 0 ? "" : " offset=(" + std::to_string(number(1, 7)) + ")"; }

  std::mt19937 random_;
};

TEST(LayoutFeatures, SetsOwnersAndPositionsAgree) {
  RandomLayoutTexts texts(1);
  for (int round = 0; round < 400; ++round) {
    const std::int64_t size = texts.number(round % 2, 40);
    const std::string text = texts.make_text(size);
    if (size == 0 && text.find("halo") != std::string::npos) continue;
    SCOPED_TRACE(text);
    const Layout layout = Layout::parse(text);
    Extents owner_counts(to_size_t(size), 0);
    for (const std::int64_t rank : layout.rank_numbers()) {
      const std::int64_t coordinate = layout.coordinates(rank)[0];
      ASSERT_EQ(layout.rank_at(Extents{coordinate}, layout.replica(rank)), rank);
      const IndexSet set = layout.index_set(0, coordinate);
      ASSERT_LE(set.size(), layout.longest_local(0));
      for (std::int64_t position = 0; position < set.size(); ++position) {
        const Extents index{set.at(position)};
        ++owner_counts[to_size_t(index[0])];
        ASSERT_EQ(layout.owner(0, index[0]), coordinate);
        ASSERT_EQ(layout.to_local(index, rank), Extents{position});
        ASSERT_EQ(layout.to_global(Extents{position}, rank), index);
      }
    }
    for (std::int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(owner_counts[to_size_t(i)], layout.replicas()) << i;
      const Extents owners = layout.owners(Extents{i});
      ASSERT_EQ(static_cast<std::int64_t>(owners.size()), layout.replicas());
      ASSERT_TRUE(std::is_sorted(owners.begin(), owners.end()));
    }
    for (std::int64_t begin = 0; begin < size; begin += 5)
      for (std::int64_t end = begin + 1; end <= size; end += 3) {
        const Extents actual = layout.owners_in(0, begin, end);
        ASSERT_TRUE(std::adjacent_find(actual.begin(), actual.end(), std::greater_equal<>()) == actual.end());
        for (std::int64_t i = begin; i < end; ++i)
          ASSERT_TRUE(std::binary_search(actual.begin(), actual.end(), layout.owner(0, i)));
      }
  }
}

TEST(LayoutFeatures, EqualLayoutsHaveOneText) {
  RandomLayoutTexts texts(2);
  // The meaning of a layout is a list of the indices of each rank.
  std::map<std::string, std::string> meaning_by_text;
  std::map<std::string, std::string> text_by_meaning;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = texts.make_text(texts.number(1, 7));
    const Layout layout = Layout::parse(text);
    SCOPED_TRACE(text);
    std::string meaning = plait::shape_to_string(layout.shape()) + (layout.periodic(0) ? " periodic" : "") +
                          std::to_string(layout.halo(0).lo) + ':' + std::to_string(layout.halo(0).hi);
    for (const std::int64_t rank : layout.rank_numbers()) {
      meaning += " | " + std::to_string(rank) + ":";
      for (const std::int64_t i : oracle::list_indices(layout.index_sets(rank)[0])) meaning += ' ' + std::to_string(i);
    }
    const std::string printed = plait::to_string(layout);
    ASSERT_EQ(meaning_by_text.try_emplace(printed, meaning).first->second, meaning) << printed;
    ASSERT_EQ(text_by_meaning.try_emplace(meaning, printed).first->second, printed);
    ASSERT_EQ(plait::to_string(Layout::parse(printed)), printed);
    ASSERT_TRUE(Layout::parse(printed) == layout);
  }
  EXPECT_GT(text_by_meaning.size(), 100U);
}

TEST(LayoutFeatures, EachElementArrivesOnce) {
  RandomLayoutTexts texts(3);
  for (int round = 0; round < 400; ++round) {
    const std::int64_t size = texts.number(1, 30);
    const Layout source = Layout::parse(texts.make_text(size));
    const Layout target = Layout::parse(texts.make_text(size));
    SCOPED_TRACE(plait::spelling(source) + " -> " + plait::spelling(target));
    const bool fill_halo = round % 2 == 0;
    const plait::Conversion conversion(source, target, fill_halo);
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sent;  // (sender, receiver) -> elements
    for (const std::int64_t rank : source.rank_numbers())
      for (const plait::Message& message : conversion.sends(rank)) sent[{rank, message.rank}] = message.elements;
    std::size_t messages = 0;
    for (const std::int64_t rank : target.rank_numbers()) {
      const IndexSet owned_set = target.index_sets(rank)[0];
      const plait::Halo halo = target.halo(0);
      Extents received(to_size_t(target.padded_shape(rank)[0]), -1);
      for (const plait::Message& message : conversion.receives(rank)) {
        ++messages;
        ASSERT_EQ((sent[{message.rank, rank}]), message.elements);
        const Extents from = oracle::list_indices(source.index_sets(message.rank)[0]);
        std::int64_t elements = 0;
        for (const auto& product : plait::plan::products(source, message.rank, target, rank, fill_halo))
          for (const auto& piece : product[0])
            for (std::int64_t t = 0; t < piece.count; ++t)
              for (std::int64_t i = 0; i < piece.length; ++i, ++elements) {
                std::int64_t& element = received[to_size_t(piece.b + t * piece.b_stride + i)];
                ASSERT_EQ(element, -1) << "delivered twice";
                element = from[to_size_t(piece.a + t * piece.a_stride + i - source.halo(0).lo)];
              }
        ASSERT_EQ(elements, message.elements);
      }
      for (std::int64_t position = 0; position < target.padded_shape(rank)[0]; ++position) {
        const std::int64_t owned_position = position - halo.lo;  // outside of the set for elements of the halo
        std::int64_t expected = -1;
        if (owned_position >= 0 && owned_position < owned_set.size()) {
          expected = owned_set.at(owned_position);
        } else if (fill_halo && owned_set.size() > 0) {
          const std::int64_t neighbour = owned_set.at(0) + owned_position;
          const std::int64_t wrapped = (neighbour % size + size) % size;
          if (neighbour == wrapped || target.periodic(0)) expected = wrapped;
        }
        ASSERT_EQ(received[to_size_t(position)], expected) << "rank " << rank << ", position " << position;
      }
    }
    ASSERT_EQ(messages, sent.size());
  }
}

}  // namespace
