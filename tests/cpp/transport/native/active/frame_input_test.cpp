// Frames that arrive in pieces of any size, and whose bodies are received directly into their destination.
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

/// Receives frames with prefixes of up to 16 bytes. Frames of kind 1 have a destination at once, those of kind 2 only
/// after resume(); kinds 7, 8 and 9 are invalid.
class BodyRecorder : public FrameTaker {
 public:
  std::optional<std::size_t> prefix_bytes(const FrameHead& head) override {
    if (head.kind == 9) return std::nullopt;
    if (head.kind == 8) return kMaxPrefix;  // more than the frame has
    return std::min<std::size_t>(head.bytes, 16);
  }
  std::optional<std::span<std::byte>> on_begun(const FrameHead& head, std::span<const std::byte> prefix) override {
    bodies[head.tag] = Bytes(prefix.begin(), prefix.end());
    Bytes& body = bodies[head.tag];
    body.resize(head.bytes);
    if (head.kind == 7) return std::span<std::byte>();  // too small for the body
    if (head.kind == 2) return std::nullopt;
    return std::span(body).subspan(prefix.size());
  }
  void on_complete(const FrameHead& head) override { order.push_back(head.tag); }

  std::map<std::uint64_t, Bytes> bodies;
  std::vector<std::uint64_t> order;
};

/// Returns a frame: its head, then its body.
Bytes make_frame(std::uint32_t kind, std::uint64_t tag, const Bytes& body) {
  const FrameHead head{kind, 0, tag, body.size()};
  Bytes all(sizeof head);
  std::memcpy(all.data(), &head, sizeof head);
  all.insert(all.end(), body.begin(), body.end());
  return all;
}

/// Copies the next bytes, at most `max_bytes`, to where the input expects them.
FrameInput::Outcome feed(FrameInput& input, FrameTaker& taker, std::span<const std::byte>& bytes,
                         std::size_t max_bytes) {
  std::size_t copied = 0;
  for (const iovec& part : input.input_space()) {
    const std::size_t count = std::min({part.iov_len, bytes.size(), max_bytes - copied});
    std::copy_n(bytes.begin(), count, static_cast<std::byte*>(part.iov_base));
    bytes = bytes.subspan(count);
    copied += count;
  }
  return input.process_input(copied, taker);
}

TEST(NativeFrameInput, FramesAreReassembledFromPiecesOfAnySize) {
  const std::vector<std::size_t> sizes{0, 1, 16, 17, 40, 2048, 5000, 70'000, 3};
  Bytes all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Bytes frame = make_frame(1, i, make_bytes(sizes[i], static_cast<unsigned>(i)));
    all.insert(all.end(), frame.begin(), frame.end());
  }
  for (const std::size_t max_bytes : {1U, 7U, 24U, 100U, 4096U, 1'000'000U}) {
    FrameInput input;
    BodyRecorder receiver;
    std::span<const std::byte> unread(all);
    while (!unread.empty()) ASSERT_EQ(feed(input, receiver, unread, max_bytes), FrameInput::Outcome::kMore);
    ASSERT_EQ(receiver.order.size(), sizes.size()) << max_bytes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(receiver.order[i], i);
      EXPECT_EQ(receiver.bodies[i], make_bytes(sizes[i], static_cast<unsigned>(i)));
    }
  }
}

TEST(NativeFrameInput, ABodyWaitsForItsDestination) {
  for (const std::size_t bytes : {std::size_t{20}, std::size_t{3000}, std::size_t{9000}}) {
    const Bytes body = make_bytes(bytes);
    Bytes all = make_frame(2, 1, body);
    const Bytes next = make_frame(1, 2, make_bytes(5));
    all.insert(all.end(), next.begin(), next.end());
    FrameInput input;
    BodyRecorder receiver;
    std::span<const std::byte> unread(all);
    ASSERT_EQ(feed(input, receiver, unread, 4096), FrameInput::Outcome::kStalled);
    EXPECT_TRUE(receiver.order.empty());
    Bytes buffer(bytes - 16);
    ASSERT_EQ(input.resume(buffer, receiver), FrameInput::Outcome::kMore);
    while (!unread.empty()) ASSERT_EQ(feed(input, receiver, unread, 4096), FrameInput::Outcome::kMore);
    EXPECT_EQ(buffer, Bytes(body.begin() + 16, body.end()));
    EXPECT_EQ(receiver.order, (std::vector<std::uint64_t>{1, 2}));
  }
}

TEST(NativeFrameInput, InvalidFramesAreErrors) {
  for (const std::uint32_t kind : {9U, 8U, 7U}) {
    const Bytes all = make_frame(kind, 1, make_bytes(40));
    FrameInput input;
    BodyRecorder receiver;
    std::span<const std::byte> unread(all);
    EXPECT_EQ(feed(input, receiver, unread, 4096), FrameInput::Outcome::kWrong) << kind;
    EXPECT_TRUE(receiver.order.empty());
  }
}

}  // namespace
}  // namespace plait::transport::native
