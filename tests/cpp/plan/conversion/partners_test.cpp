// The partners of a rank, which are the ranks that have elements in common with it, compared with a walk over all
// indices. The arrays are so large that planning does not itself walk over them.
#include "plan/conversion/partners.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "layout/owner_map.hpp"
#include "plait/conversion.hpp"
#include "plan/conversion/owned_pieces.hpp"

namespace {

using plait::Extents;
using plait::Layout;
using plait::Message;

/// Returns the messages of `rank`, counted index by index.
std::vector<Message> expected_sends(const Layout& source, const Layout& target, std::int64_t rank) {
  std::map<std::int64_t, Message> messages;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> last;  // positions of the last element of each message
  const plait::IndexSet owned_set = source.index_sets(rank)[0];
  for (std::int64_t source_position = 0; source_position < owned_set.size(); ++source_position) {
    const Extents index{owned_set.at(source_position)};
    const std::int64_t receiver = target.owner(index);
    const std::int64_t target_position = target.to_local(index, receiver)[0];
    Message& message = messages[receiver];
    message.rank = receiver;
    ++message.elements;
    const auto previous = last.find(receiver);
    if (previous == last.end() || previous->second != std::pair(source_position - 1, target_position - 1))
      ++message.runs;
    last[receiver] = {source_position, target_position};
  }
  std::vector<Message> result;
  for (const auto& [receiver, message] : messages) result.push_back(message);
  return result;
}

const char* const kLayoutTexts[] = {
    "(cyclic) onto (5)",
    "(cyclic(7)) onto (11)",
    "(cyclic(13)) onto (12) source=(5) reverse=(0)",
    "(cyclic(11)) onto (9) offset=(4)",
    "(block) onto (7)",
    "(cyclic/cyclic) onto (4, 5)",
    "(cyclic(3)/block) onto (5, 3)",
    "(block/cyclic(2)) onto (3, 4)",
    "(cyclic(4)) onto (6) template=9000 align=(2*d0+5)",
    "(cyclic(5)) onto (7) template=9000 align=(-3*d0+8900)",
    "(cyclic(2)/cyclic(3)) onto (3, 5) template=3000 align=(-d0+2999)",
    "(indirect(0*3, 2, 1*2, 3, ...)) onto (4)",
};

TEST(Partners, AreComputedWithoutAWalkOverIndices) {
  const std::int64_t size = 2963;
  for (const char* source_text : kLayoutTexts)
    for (const char* target_text : kLayoutTexts) {
      const Layout source = Layout::parse(source_text, {size});
      const Layout target = Layout::parse(target_text, {size});
      SCOPED_TRACE(std::string(source_text) + " -> " + target_text);
      const plait::Conversion conversion(source, target);
      for (const std::int64_t rank : {std::int64_t{0}, source.size() / 2, source.size() - 1}) {
        ASSERT_EQ(conversion.sends(rank), expected_sends(source, target, rank));
      }
    }
}

TEST(Partners, AWalkOverOwnersMatchesPairwiseIntersections) {
  const Extents shape{700000};
  const Layout source = Layout::parse("(cyclic(97)) onto (101)", shape);
  const Layout target = Layout::parse("(cyclic(103)) onto (107) source=(3)", shape);
  ASSERT_TRUE(plait::plan::owner_walk_is_cheaper(source.index_set(0, 5), plait::layout::get_owner_map(target, 0)));
  for (const std::int64_t rank : {0, 50, 100}) {
    const plait::IndexSet owned_set = source.index_set(0, rank);
    for (const auto& owned : plait::plan::owned_pieces(owned_set, plait::layout::get_owner_map(target, 0)))
      ASSERT_EQ(owned.pieces, plait::plan::intersect(owned_set, target.index_set(0, owned.coordinate)));
    ASSERT_EQ(plait::Conversion(source, target).sends(rank), expected_sends(source, target, rank));
  }
}

}  // namespace
