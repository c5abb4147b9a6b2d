// The C interface reports a failed allocation as PLAIT_ERROR_MEMORY, wherever it occurs, and never as a wrong argument.
#include <gtest/gtest.h>
#include <plait.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "allocations.hpp"
#include "folder.hpp"

namespace {

class CWithoutMemory : public plait_test::FolderTest {
 protected:
  /// Calls `body` once for each of its allocations, and makes this allocation fail.
  static void fail_each_allocation(const std::function<plait_status()>& body) {
    bool reached = true;
    int n = 1;
    for (; reached && n < 2000; ++n) {
      allocations::fail_at(n);
      const plait_status status = body();
      reached = allocations::failed();
      if (status == PLAIT_OK) continue;
      ASSERT_TRUE(reached) << plait_message(nullptr);
      ASSERT_EQ(status, PLAIT_ERROR_MEMORY) << n << ": " << plait_message(nullptr);
    }
    EXPECT_FALSE(reached);
    EXPECT_GT(n, 2);
  }
};

TEST_F(CWithoutMemory, FailedAllocationsAreNotArgumentErrors) {
  const std::string name = path("a.npy");
  const std::array<std::int64_t, 1> shape{40};
  plait_open_options options{};
  options.size = sizeof options;
  options.dimensions = 1;
  options.shape = shape.data();
  options.dtype = "<i8";
  std::array<std::int64_t, 40> numbers{};
  std::array<std::int64_t, 40> target{};
  plait_layout* layout = nullptr;
  ASSERT_EQ(plait_layout_parse("40 (block) onto (1)", &layout), PLAIT_OK);
  plait_file* file = nullptr;
  fail_each_allocation([&] {
    plait_file* opened = nullptr;
    const plait_status status = plait_open(name.c_str(), "w", plait_alone(), &options, &opened);
    if (opened != nullptr) plait_abandon(&opened);
    return status;
  });
  ASSERT_EQ(plait_open(name.c_str(), "w", plait_alone(), &options, &file), PLAIT_OK);
  fail_each_allocation([&] { return plait_write(file, layout, numbers.data(), sizeof numbers); });
  fail_each_allocation([&] { return plait_read(file, layout, numbers.data(), sizeof numbers); });
  fail_each_allocation([&] {
    return plait_redistribute(plait_alone(), layout, numbers.data(), sizeof numbers, layout, target.data(),
                              sizeof target, 8, nullptr);
  });
  fail_each_allocation([&] {
    plait_stream* stream = nullptr;
    const plait_status status = plait_stream_open(file, PLAIT_STREAM_OWN, &stream);
    if (stream != nullptr) plait_stream_close(&stream);
    return status;
  });
  plait_abandon(&file);
  plait_layout_free(&layout);
}

}  // namespace
