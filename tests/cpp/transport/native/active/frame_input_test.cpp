// Frames that come in pieces of any size, and whose bodies go straight to their taken.
#include "transport/native/active/frame_input.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "native_case.hpp"

namespace plait::transport::native {
namespace {

/// Frames of kind 1 have fronts of up to 16 bytes; those of kind 2 say later where they go.
class Bodies : public FrameTaker {
 public:
  std::optional<std::size_t> prefix_bytes(const FrameHead& head) override {
    if (head.kind == 9) return std::nullopt;
    if (head.kind == 8) return kMaxPrefix;  // more than it has
    return std::min<std::size_t>(head.bytes, 16);
  }
  std::optional<std::span<std::byte>> begun(const FrameHead& head, std::span<const std::byte> prefix) override {
    bodies[head.tag] = Bytes(prefix.begin(), prefix.end());
    Bytes& body = bodies[head.tag];
    body.resize(head.bytes);
    if (head.kind == 7) return std::span<std::byte>();  // too little room
    if (head.kind == 2) return std::nullopt;
    return std::span(body).subspan(prefix.size());
  }
  void whole(const FrameHead& head) override { order.push_back(head.tag); }

  std::map<std::uint64_t, Bytes> bodies;
  std::vector<std::uint64_t> order;
};

Bytes framed(std::uint32_t kind, std::uint64_t tag, const Bytes& body) {
  const FrameHead head{kind, 0, tag, body.size()};
  Bytes all(sizeof head);
  std::memcpy(all.data(), &head, sizeof head);
  all.insert(all.end(), body.begin(), body.end());
  return all;
}

/// Puts the next bytes where they are wanted, at most `most`.
FrameInput::Outcome give(FrameInput& input, FrameTaker& taker, std::span<const std::byte>& bytes, std::size_t most) {
  std::size_t given = 0;
  for (const iovec& part : input.input_space()) {
    const std::size_t some = std::min({part.iov_len, bytes.size(), most - given});
    std::copy_n(bytes.begin(), some, static_cast<std::byte*>(part.iov_base));
    bytes = bytes.subspan(some);
    given += some;
  }
  return input.took(given, taker);
}

TEST(NativeFrameInput, FramesComeWholeHoweverTheyAreCut) {
  const std::vector<std::size_t> sizes{0, 1, 16, 17, 40, 2048, 5000, 70'000, 3};
  Bytes all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Bytes one = framed(1, i, some_bytes(sizes[i], static_cast<unsigned>(i)));
    all.insert(all.end(), one.begin(), one.end());
  }
  for (const std::size_t most : {1U, 7U, 24U, 100U, 4096U, 1'000'000U}) {
    FrameInput input;
    Bodies taken;
    std::span<const std::byte> rest(all);
    while (!rest.empty()) ASSERT_EQ(give(input, taken, rest, most), FrameInput::Outcome::kMore);
    ASSERT_EQ(taken.order.size(), sizes.size()) << most;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(taken.order[i], i);
      EXPECT_EQ(taken.bodies[i], some_bytes(sizes[i], static_cast<unsigned>(i)));
    }
  }
}

TEST(NativeFrameInput, ABodyWaitsForItsRoom) {
  for (const std::size_t bytes : {std::size_t{20}, std::size_t{3000}, std::size_t{9000}}) {
    const Bytes body = some_bytes(bytes);
    Bytes all = framed(2, 1, body);
    const Bytes next = framed(1, 2, some_bytes(5));
    all.insert(all.end(), next.begin(), next.end());
    FrameInput input;
    Bodies taken;
    std::span<const std::byte> rest(all);
    ASSERT_EQ(give(input, taken, rest, 4096), FrameInput::Outcome::kStalled);
    EXPECT_TRUE(taken.order.empty());
    Bytes buffer(bytes - 16);
    ASSERT_EQ(input.resume(buffer, taken), FrameInput::Outcome::kMore);
    while (!rest.empty()) ASSERT_EQ(give(input, taken, rest, 4096), FrameInput::Outcome::kMore);
    EXPECT_EQ(buffer, Bytes(body.begin() + 16, body.end()));
    EXPECT_EQ(taken.order, (std::vector<std::uint64_t>{1, 2}));
  }
}

TEST(NativeFrameInput, WhatIsNoFrameEndsIt) {
  for (const std::uint32_t kind : {9U, 8U, 7U}) {
    const Bytes all = framed(kind, 1, some_bytes(40));
    FrameInput input;
    Bodies taken;
    std::span<const std::byte> rest(all);
    EXPECT_EQ(give(input, taken, rest, 4096), FrameInput::Outcome::kWrong) << kind;
    EXPECT_TRUE(taken.order.empty());
  }
}

}  // namespace
}  // namespace plait::transport::native
