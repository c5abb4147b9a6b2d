// Options in the URLs of pipes, the encoding of step descriptions, and the offsets of arrays in a slot.
#include "pipe/options.hpp"

#include <gtest/gtest.h>

#include "pipe/step_description.hpp"
#include "plait/error.hpp"

namespace {

using plait::Error;
using plait::Layout;
using namespace plait::pipe;

/// Returns the error text of an invalid URL; empty if it is valid.
std::string options_error(const std::string& url) {
  try {
    parse_options(url);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PipeOptions, AreParsedFromTheUrl) {
  const Options options =
      parse_options("pipe:flow?queue=5&drop=oldest&readers=0&timeout=2.5&network=eth1&ports=4700-4800");
  EXPECT_EQ(options.name, "flow");
  EXPECT_EQ(options.queue, 5);
  EXPECT_EQ(options.when_full, FullQueuePolicy::kDropOldest);
  EXPECT_EQ(options.readers, 0);
  EXPECT_EQ(options.timeout.count(), 2.5);
  EXPECT_EQ(options.network, "eth1");
  EXPECT_EQ(options.first_port, 4700);
  EXPECT_EQ(options.last_port, 4800);
}

TEST(PipeOptions, InvalidOptionsAreErrors) {
  for (const char* url :
       {"pipe:", "pipe:a/b", "pipe:.x", "pipe:a?queue=0", "pipe:a?queue=x", "pipe:a?drop=new", "pipe:a?timeout=-1",
        "pipe:a?timeout=nan", "pipe:a?ports=9-1", "pipe:a?ports=70000", "pipe:a?colour=red", "pipe:a?queue=1&queue=2"})
    EXPECT_NE(options_error(url), "") << url;
  EXPECT_NE(options_error("pipe:a?colour=red").find("colour"), std::string::npos);
}

TEST(PipeDescription, IsDecodedUnchanged) {
  StepDescription step;
  step.number = 7;
  step.slot = 1;
  step.attributes = {{"time", 0.25}, {"name", std::string("x\0y", 3)}, {"count", std::int64_t{-3}}};
  step.variables = {{"data", {{3, 4}, "<f8", 8, plait::Order::kC}, "3x4 (block, *) onto (2)"}, {"p", {{}, "", 3}, ""}};
  const auto decoded = plait::base::decode<StepDescription>(plait::base::encode(step), kOtherEnd);
  EXPECT_EQ(decoded.number, 7);
  EXPECT_EQ(decoded.slot, 1);
  EXPECT_EQ(decoded.attributes, step.attributes);
  ASSERT_EQ(decoded.variables.size(), 2U);
  EXPECT_EQ(decoded.variables[0].type.shape, (plait::Extents{3, 4}));
  EXPECT_EQ(decoded.variables[0].layout, step.variables[0].layout);
  EXPECT_EQ(decoded.variables[1].type.element_bytes, 3);
  EXPECT_EQ(decoded.find("p"), &decoded.variables[1]);
}

TEST(PipeDescription, TruncatedBytesAreAnError) {
  StepDescription step;
  step.attributes = {{"time", 0.25}};
  step.variables = {{"data", {{3, 4}, "<f8", 8, plait::Order::kC}, "3x4"}};
  const std::string bytes = plait::base::encode(step);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(plait::base::decode<StepDescription>(bytes.substr(0, length), kOtherEnd), Error) << length;
  EXPECT_THROW(plait::base::decode<StepDescription>(bytes + '\0', kOtherEnd), Error);
}

TEST(PipePlacement, AlignsPartsToCacheLines) {
  const Layout layout = Layout::parse("10x3 (block, *) onto (4)");
  Placement all(-1);  // -1: a process that holds all ranks
  all.add(layout, 8);
  std::int64_t expected = Placement::kHeaderBytes;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(all.offset(0, rank), expected);
    expected += (layout.local_elements(rank) * 8 + 63) / 64 * 64;
  }
  EXPECT_EQ(all.end(), expected);
  Placement single(2);  // process 2 holds rank 2 only: 3x3 elements of 8 bytes are 72, rounded up to 128
  single.add(layout, 8);
  single.add(layout, 1);
  EXPECT_EQ(single.offset(0, 2), Placement::kHeaderBytes);
  EXPECT_EQ(single.offset(1, 2), Placement::kHeaderBytes + 128);
}

}  // namespace
