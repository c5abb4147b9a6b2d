// The notation of layouts: texts that the parser accepts, and its errors for others.
#include <gtest/gtest.h>

#include "oracle.hpp"

namespace {

using oracle::expect_rejected;
using plait::Distribution;
using plait::Extents;
using plait::Layout;
using plait::Order;

TEST(Notation, ReadsEveryPart) {
  const Layout layout =
      Layout::parse("8x12x3x7x5 (block, cyclic(3), *, gen_block(3, 0, 4), balanced) onto (2, 2, 3, 1) ranks=F order=F");
  EXPECT_EQ(layout.shape(), (Extents{8, 12, 3, 7, 5}));
  EXPECT_EQ(layout.grid(), (Extents{2, 2, 3, 1}));
  EXPECT_EQ(layout.ranks(), Order::kFortran);
  EXPECT_EQ(layout.order(), (std::vector<int>{4, 3, 2, 1, 0}));
  const std::vector<Distribution> expected{Distribution::blocked(), Distribution::cyclic(3), Distribution::collapsed(),
                                           Distribution::gen_block({3, 0, 4}), Distribution::balanced()};
  EXPECT_EQ(layout.distributions(), expected);
}

TEST(Notation, CaseAndWhiteSpaceDoNotMatter) {
  const Layout expected({8, 12}, {Distribution::blocked(5), Distribution::cyclic(3)}, {2, 2}, Order::kFortran);
  for (const char* text :
       {"8x12 (block(5), cyclic(3)) onto (2, 2) ranks=F", "8X12(BLOCK(5),CYCLIC(3))ONTO(2,2)RANKS=f",
        "  8x12\t( Block ( 5 ) ,Cyclic( 3 ) )\n onto ( 2,2 )  ranks = F  ",
        "8x12 (block(5), cyclic(3)) ranks=F onto (2, 2)", "8x12 (block(5), cyclic(3)) order=C ranks=F onto (2, 2)"}) {
    EXPECT_EQ(Layout::parse(text), expected) << text;
  }
}

TEST(Notation, AColonIsReadAsAStar) {
  const Layout layout = Layout::parse("8x12x3 (:, block, *) onto (4)");
  EXPECT_EQ(layout, Layout::parse("8x12x3 (*, block, *) onto (4)"));
  EXPECT_EQ(to_string(layout), "8x12x3 (*, block, *) onto (4)");
}

TEST(Notation, OptionalParts) {
  EXPECT_EQ(Layout::parse("(block, *) onto (2)", {8, 12}), Layout::parse("8x12 (block, *) onto (2)"));
  EXPECT_EQ(Layout::parse("8x12 (block, *) onto (2)", {8, 12}), Layout::parse("8x12 (block, *) onto 2"));
  EXPECT_EQ(Layout::parse("8x12 (*, *) onto ()"), Layout::parse("8x12 (*, *)"));
  EXPECT_EQ(Layout::parse("()", {}), Layout());
  EXPECT_EQ(Layout::parse(" SCALAR ( ) "), Layout());
  EXPECT_EQ(Layout::parse("7 (gen_block((3, 4))) onto (2)"), Layout::parse("7 (gen_block(3, 4)) onto (2)"));
  EXPECT_EQ(Layout::parse("0x5 (block, *) onto (3)").elements(), 0);
}

TEST(Notation, ErrorsStateThePosition) {
  const auto expect_error = [](const char* text, const std::string& part) {
    SCOPED_TRACE(text);
    expect_rejected([&] { (void)Layout::parse(text); }, part);
  };
  expect_error("", "position 1: found the end of the text, expected a shape such as 8x12, or '('");
  expect_error("8x12", "position 5: found the end of the text, expected '(' before the distributions");
  expect_error("8x (block)", "position 4: found \"(\", expected the size of a dimension");
  expect_error("8xx (block)", "position 3: found \"x\"");
  expect_error("huge (block)", "position 1: found \"huge\", expected a shape such as 8x12");
  expect_error("8x12 (block, rows) onto (2, 2)",
               "position 14: found \"rows\", expected *, block, block(m), balanced, cyclic");
  expect_error("8x12 (block, ) onto (2, 2)", "position 14: found \")\"");
  expect_error("8x12 (block cyclic)", "position 13: found \"cyclic\", expected ',' or ')'");
  expect_error("8x12 (block, cyclic", "position 20: found the end of the text, expected ',' or ')'");
  expect_error("8 (cyclic(0)) onto (2)", "position 11: found \"0\", expected a block size of 1 or more");
  expect_error("8 (cyclic(-1)) onto (2)", "position 11: found \"-\", expected a block size of 1 or more");
  expect_error("8 (block()) onto (2)", "position 10: found \")\", expected a block size");
  expect_error("8 (block(2) onto (2)", "position 13: found \"onto\"");
  expect_error("8 (block(2, 3)) onto (2)", "position 11: found \",\", expected ')'");
  expect_error("8 (balanced(2)) onto (2)", "position 12: found \"(\"");
  expect_error("8 (gen_block) onto (2)", "position 13: found \")\", expected '(' before the block sizes");
  expect_error("8 (gen_block(3 5)) onto (2)", "position 16: found \"5\"");
  expect_error("8 (block) onto (x)", "position 17: found \"x\", expected a grid extent");
  expect_error("8 (block) onto", "position 15: found the end of the text, expected a grid such as (2, 2)");
  expect_error("8 (block) onto (2) onto (2)", "position 20: found \"onto\", expected onto (grid), ranks=");
  expect_error("8 (block) onto (2) halo=1", "position 25: found \"1\"");
  expect_error("8 (block) onto (2) ranks", "position 25: found the end of the text, expected '='");
  expect_error("8 (block) onto (2) ranks=X", "position 26: found \"X\", expected C or F");
  expect_error("8 (block) onto (2) order=C order=F", "each at most once");
  expect_error("8 (block) onto (2))", "position 19: found \")\"");
  expect_error("99999999999999999999 (block) onto (2)",
               "position 1: found \"99999999999999999999\", expected a number below 2^63");
  expect_error("8 (cyclic(9223372036854775808)) onto (2)", "expected a number below 2^63");
  expect_error("(block) onto (2)", "no shape; put it in front");
  expect_error("8 (block)", "has no grid; add one");
  expect_error("-8 (block) onto (2)", "negative size -8");
  expect_error("8 (block, block) onto (2, 2)", "the shape 8 has 1 dimension, but the number of distributions is 2");
  expect_rejected([] { (void)Layout::parse("8x12 (*, *)", {8, 11}); }, "is of an array 8x12, but the array is 8x11");
}

}  // namespace
