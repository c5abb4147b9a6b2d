// Frames and streams between two ends in one process, over each carrier.
#include "transport/native/link.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/wait/interruption.hpp"
#include "native_case.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;

class NativeLink : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (served.endpoints_by(GetParam()).addresses.empty()) GTEST_SKIP() << "this host has no such address";
    link = served.connect(GetParam());
  }

  // Declared before the server, so that they are destroyed after its thread, which uses them.
  Bytes collected;
  bool is_done = false;
  TestServer served;
  std::unique_ptr<Link> link;
};

std::string link_carrier_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param == "local:" ? "Local" : info.param == "tcp:[" ? "Ipv6" : "Ipv4";
}

INSTANTIATE_TEST_SUITE_P(Carriers, NativeLink, ::testing::Values("local:", "tcp:127.", "tcp:["), link_carrier_name);

TEST_P(NativeLink, FramesOfAllSizesAreEchoed) {
  served.service->on_frame = [](const auto& peer, FrameHead head, auto body) {
    head.flags += 1;
    peer->send(head, body);
  };
  unsigned tag = 0;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{23}, std::size_t{4096},
                                  std::size_t{65536}, std::size_t{300'001}, std::size_t{kMaxReceive}}) {
    const Bytes body = make_bytes(bytes, ++tag);
    send(*link, {7, 40, tag, 0}, body);
    const FrameHead head = link->receive(test_deadline());
    EXPECT_EQ(head.kind, 7U);
    EXPECT_EQ(head.flags, 41U);
    EXPECT_EQ(head.tag, tag);
    ASSERT_EQ(head.bytes, bytes);
    EXPECT_EQ(receive_body(*link, head), body);
  }
}

TEST_P(NativeLink, ManyFramesKeepTheirBoundaries) {
  served.service->on_frame = [&](const auto& peer, const FrameHead& head, auto body) {
    collected.insert(collected.end(), body.begin(), body.end());
    if (head.kind == 2) peer->send({3, 0, 0, 0}, collected);
  };
  Bytes expected;
  for (unsigned i = 0; i < 2000; ++i) {
    const Bytes body = make_bytes((i * 37) % 500, i);
    expected.insert(expected.end(), body.begin(), body.end());
    send(*link, {i == 1999 ? 2U : 1U, 0, i, 0}, body);
  }
  EXPECT_EQ(receive_body(*link, link->receive(test_deadline())), expected);
}

TEST_P(NativeLink, PartsAreGatheredAndScattered) {
  served.service->on_frame = [](const auto& peer, const FrameHead& head, auto body) { peer->send(head, body); };
  const Bytes sent = make_bytes(700'000);
  std::vector<std::span<const std::byte>> from;
  for (std::size_t offset = 0, i = 0; offset < sent.size(); ++i) {
    const std::size_t bytes = std::min((i * 13) % 600, sent.size() - offset);  // some parts are empty
    from.push_back(std::span(sent).subspan(offset, bytes));
    offset += bytes;
  }
  link->send({1, 0, 0, 0}, from, test_deadline());
  ASSERT_EQ(link->receive(test_deadline()).bytes, sent.size());
  Bytes received(sent.size());
  std::vector<std::span<std::byte>> into;
  for (std::size_t offset = 0, i = 0; offset < received.size(); ++i) {
    const std::size_t bytes = std::min((i * 29) % 900, received.size() - offset);
    into.push_back(std::span(received).subspan(offset, bytes));
    offset += bytes;
  }
  // In two calls, like callers that check the beginning of a frame first.
  link->receive_body(std::span(into).first(3), test_deadline());
  link->receive_body(std::span(into).subspan(3), test_deadline());
  EXPECT_EQ(received, sent);
}

TEST_P(NativeLink, SmallFramesOvertakeStreams) {
  constexpr std::uint64_t kStreamBytes = (std::uint64_t{40} << 20) + 12345;
  served.service->on_frame = [&](const auto& peer, const FrameHead& head, auto) {
    if (head.kind == 1) {
      peer->stream(
          {10, 1, 77, 0}, kStreamBytes,
          [](std::uint64_t offset, std::span<std::byte> into) {
            for (std::size_t i = 0; i < into.size(); ++i) into[i] = byte_at(offset + i);
            return true;
          },
          [&](bool whole) { served.service->update([&] { is_done = whole; }); });
    } else {
      peer->send({20, 0, head.tag, 0}, {});
    }
  };
  send(*link, {1, 0, 0, 0}, {});
  std::uint64_t received = 0;
  std::uint64_t answered_at = 0;  // bytes of the stream that have arrived before the answer
  Bytes piece;
  while (received < kStreamBytes || answered_at == 0) {
    const FrameHead head = link->receive(test_deadline());
    if (head.kind == 20) {
      answered_at = received;
      EXPECT_EQ(head.tag, 5U);
      continue;
    }
    ASSERT_EQ(head.kind, 10U);
    ASSERT_EQ(head.flags, 1U);
    ASSERT_EQ(head.tag, 77U);
    ASSERT_EQ(head.bytes, std::min(kMaxStream, kStreamBytes - received));
    piece.resize(head.bytes);
    receive_into(*link, piece);
    for (std::size_t i = 0; i < piece.size(); i += 997) ASSERT_EQ(piece[i], byte_at(received + i));
    ASSERT_EQ(piece.back(), byte_at(received + piece.size() - 1));
    if (received == 0) send(*link, {2, 0, 5, 0}, {});
    received += head.bytes;
  }
  EXPECT_EQ(received, kStreamBytes);
  EXPECT_GT(answered_at, 0U);
  EXPECT_LT(answered_at, kStreamBytes / 2) << "the answer waited for the stream";
  EXPECT_TRUE(served.service->wait_until([&] { return is_done; }));
}

TEST_P(NativeLink, StreamsOfOnePeerFollowEachOther) {
  served.service->on_frame = [&](const auto& peer, const FrameHead&, auto) {
    for (unsigned i = 0; i < 4; ++i)
      peer->stream(
          {i, 0, i, 0}, i == 2 ? 0 : 1'000'000,
          [i](std::uint64_t offset, std::span<std::byte> into) {
            for (std::size_t k = 0; k < into.size(); ++k) into[k] = byte_at(offset + k, i);
            return true;
          },
          [peer, i](bool whole) { peer->send({100 + i, whole, 0, 0}, {}); });
  };
  send(*link, {1, 0, 0, 0}, {});
  std::vector<unsigned> ended;
  std::vector<Bytes> received(4);
  while (ended.size() < 4) {
    const FrameHead head = link->receive(test_deadline());
    const Bytes body = receive_body(*link, head);
    if (head.kind < 100) {
      EXPECT_EQ(head.kind, ended.size() > 2 ? 3U : ended.empty() ? 0U : 1U);
      received[head.kind].insert(received[head.kind].end(), body.begin(), body.end());
    } else {
      EXPECT_EQ(head.flags, 1U);
      ended.push_back(head.kind - 100);
    }
  }
  EXPECT_EQ(ended, (std::vector<unsigned>{0, 1, 2, 3}));
  for (const unsigned i : {0U, 1U, 3U}) EXPECT_EQ(received[i], make_bytes(1'000'000, i));
  EXPECT_TRUE(received[2].empty());
}

TEST_P(NativeLink, AStreamThatFailsEndsTheConnection) {
  served.service->on_frame = [&](const auto& peer, const FrameHead&, auto) {
    peer->stream(
        {1, 0, 0, 0}, 1'000'000, [](std::uint64_t offset, std::span<std::byte>) { return offset == 0; },
        [&](bool whole) { served.service->update([&] { is_done = !whole; }); });
  };
  send(*link, {1, 0, 0, 0}, {});
  receive_body(*link, link->receive(test_deadline()));
  EXPECT_TRUE(catch_error([&] { link->receive(test_deadline()); }).starts_with(std::to_string(ECONNRESET)));
  EXPECT_TRUE(served.service->wait_until([&] { return is_done && served.service->reasons.size() == 1; }));
}

TEST_P(NativeLink, DescriptorsArriveWithTheirFrames) {
  constexpr std::string_view kText = "content of the file";
  const int file = ::memfd_create("plait-test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, kText.data(), kText.size()), static_cast<ssize_t>(kText.size()));
  served.service->on_frame = [&](const auto& peer, const FrameHead& head, auto) {
    const Bytes body = make_bytes(head.tag);
    for (std::uint32_t i = 0; i < 40; ++i) peer->send({i, 0, 0, 0}, body, i % 3 == 1 ? file : -1);
  };
  for (const std::uint64_t bytes : {0, 50'000}) {
    send(*link, {0, 0, bytes, 0}, {});
    for (std::uint32_t i = 0; i < 40; ++i) {
      const FrameHead head = link->receive(test_deadline());
      ASSERT_EQ(head.kind, i);
      EXPECT_EQ(receive_body(*link, head), make_bytes(bytes));
      const base::Descriptor descriptor = link->take_descriptor();
      ASSERT_EQ(descriptor.number() >= 0, link->is_local() && i % 3 == 1) << i;
      if (descriptor.number() < 0) continue;
      std::string text(kText.size(), '\0');
      EXPECT_EQ(::pread(descriptor.number(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
      EXPECT_EQ(text, kText);
    }
  }
  ::close(file);
}

TEST_P(NativeLink, ManyThreadsSendAtOnce) {
  const auto peer = served.peer();
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->is_local(), GetParam() == "local:");
  constexpr unsigned kThreads = 4;
  constexpr unsigned kFrames = 500;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&peer, thread] {
      for (unsigned i = 0; i < kFrames; ++i)
        peer->send({thread, 0, i, 0}, make_bytes((i * 97) % 5000, thread * 1000 + i));
    });
  std::vector<unsigned> next_tag(kThreads);
  for (unsigned i = 0; i < kThreads * kFrames; ++i) {
    const FrameHead head = link->receive(test_deadline());
    ASSERT_LT(head.kind, kThreads);
    EXPECT_EQ(head.tag, next_tag[head.kind]++);  // the frames of one thread arrive in order
    EXPECT_EQ(receive_body(*link, head),
              make_bytes((head.tag * 97) % 5000, static_cast<unsigned>(head.kind * 1000 + head.tag)));
  }
  for (std::thread& sender : threads) sender.join();
}

TEST_P(NativeLink, ClosingSendsQueuedFramesFirst) {
  served.service->on_frame = [&](const auto& peer, const FrameHead&, auto) {
    for (unsigned i = 0; i < 30; ++i) peer->send({i, 0, 0, 0}, make_bytes(100'000, i));
    peer->close();
    peer->send({99, 0, 0, 0}, {});  // not sent, because the peer is closed
  };
  send(*link, {1, 0, 0, 0}, {});
  for (unsigned i = 0; i < 30; ++i) {
    const FrameHead head = link->receive(test_deadline());
    ASSERT_EQ(head.kind, i);
    EXPECT_EQ(receive_body(*link, head), make_bytes(100'000, i));
  }
  const std::string error = catch_error([&] { link->receive(test_deadline()); });
  EXPECT_TRUE(error.starts_with(std::to_string(ECONNRESET))) << error;
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }));
}

TEST_P(NativeLink, AWaitEndsAtItsDeadline) {
  const auto begin = Clock::now();
  const std::string timeout = catch_error([&] { link->receive(in(milliseconds(50))); });
  EXPECT_TRUE(timeout.starts_with(std::to_string(ETIMEDOUT))) << timeout;
  EXPECT_GE(Clock::now() - begin, milliseconds(50));
  const std::string later_error = catch_error([&] { link->receive(test_deadline()); });
  EXPECT_TRUE(later_error.starts_with(std::to_string(ECONNRESET))) << later_error;
  EXPECT_TRUE(link->is_closed_by_peer());
  EXPECT_TRUE(served.service->wait_until([&] { return served.service->reasons.size() == 1; }));
}

std::atomic<Clock::rep> interrupted_at{0};  // 0: never

TEST_P(NativeLink, AnInterruptionEndsAWait) {
  interrupted_at = in(milliseconds(100)).time_since_epoch().count();
  base::set_interruption_check([] { return Clock::now().time_since_epoch().count() > interrupted_at; });
  const auto begin = Clock::now();
  const std::string error = catch_error([&] { link->receive(test_deadline()); });
  base::set_interruption_check(nullptr);
  EXPECT_TRUE(error.starts_with(std::to_string(EINTR))) << error;
  EXPECT_LT(Clock::now() - begin, milliseconds(1500));  // 200 ms on an idle machine
}

TEST_P(NativeLink, WrongUseIsAnError) {
  const Bytes body(kMaxReceive + 1);
  EXPECT_NE(catch_error([&] { send(*link, {}, body); }).find("send several"), std::string::npos);
  served.service->on_frame = [](const auto& peer, const FrameHead& head, auto frame) { peer->send(head, frame); };
  send(*link, {}, make_bytes(10));
  EXPECT_EQ(link->receive(test_deadline()).bytes, 10U);
  Bytes buffer(11);
  EXPECT_NE(catch_error([&] { receive_into(*link, buffer); }).find("10 more bytes; 11"), std::string::npos);
  EXPECT_NE(catch_error([&] { link->receive(test_deadline()); }).find("10 unread bytes"), std::string::npos);
  buffer.resize(10);
  receive_into(*link, buffer);
  EXPECT_EQ(buffer, make_bytes(10));
}

}  // namespace
}  // namespace plait::transport::native
