// Steps in the memory of a writer's process, and the elements that are packed for readers.
#include "pipe/writer/step_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plait/error.hpp"
#include "plait/layout.hpp"

namespace plait::pipe {
namespace {

/// Writes a step of `bytes` equal bytes in slot 0.
void write_step(StepStore& steps, std::int64_t step, std::int64_t bytes, std::byte value) {
  const Layout layout(Extents{bytes}, {Distribution::blocked()}, Extents{1});
  std::vector<std::byte> array(static_cast<std::size_t>(bytes), value);
  const copy::LocalArray arrays[] = {dense_array(layout, 0, array.data(), 1)};
  steps.begin(step, 0);
  steps.add(layout, 1, arrays);
}

/// Requests the elements of rank 0 of a reader's layout.
ElementRequest make_request(std::int64_t step, const char* layout) {
  ElementRequest request;
  request.step = step;
  request.layout = layout;
  return request;
}

TEST(PipeStepStore, PacksElementsOfAStep) {
  StepStore steps(1, 0);
  write_step(steps, 7, 1000, std::byte{7});
  const auto message = steps.find(make_request(7, "1000 (cyclic) onto (2)"));
  ASSERT_EQ(message.bytes(), 500);
  std::vector<std::byte> packed(300);
  EXPECT_TRUE(steps.pack(message, 200, packed));
  EXPECT_EQ(std::ranges::count(packed, std::byte{7}), 300);
}

TEST(PipeStepStore, ASlowReaderGetsNothingOfALaterStepInItsSlot) {
  StepStore steps(1, 0);
  write_step(steps, 7, 1000, std::byte{7});
  const auto message = steps.find(make_request(7, "1000 (block) onto (1)"));
  // The longer step enlarges the slot, which moves its memory to another address.
  write_step(steps, 8, 50'000'000, std::byte{8});
  std::vector<std::byte> packed(1000);
  EXPECT_FALSE(steps.pack(message, 0, packed));
  EXPECT_EQ(std::ranges::count(packed, std::byte{0}), 1000);
  // A step cannot be read while its slot is being written.
  const auto next = steps.find(make_request(8, "50000000 (block) onto (1)"));
  steps.begin(9, 0);
  EXPECT_FALSE(steps.pack(next, 0, packed));
  EXPECT_THROW(steps.find(make_request(9, "1000 (block) onto (1)")), Error);
}

}  // namespace
}  // namespace plait::pipe
