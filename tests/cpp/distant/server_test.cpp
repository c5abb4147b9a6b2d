// The server of a rank's distant files under load: its buffers are bounded, and it serves the callers in turn.
#include "distant/server.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "distant_case.hpp"
#include "transport/active_messages.hpp"

namespace {

using plait::distant::Head;
using plait::distant::LocalFile;
using plait::distant::RequestKind;
using plait::distant::Server;
using plait::transport::ActiveMessages;
using plait::transport::Arrival;
using plait::transport::Call;
using plait::transport::CallFailure;

/// Records the answers and rejections of the server. The buffer of an answer is in use until the test calls `sent`.
class ReplyRecorder : public ActiveMessages {
 public:
  struct Answer {
    int to;
    const std::byte* data;
    std::size_t bytes;
    std::function<void()> sent;
  };
  void call(Call) override {}
  void poll_answers_until(plait::base::FunctionRef<bool()>) override {}
  void receive_payload(const Arrival&, std::span<std::byte> into, std::function<void(bool)> done) override {
    std::fill(into.begin(), into.end(), std::byte{7});
    done(true);
  }
  void answer(const Arrival& arrival, std::span<const std::byte> data, std::function<void()> sent) override {
    answers.push_back({arrival.from, data.data(), data.size(), std::move(sent)});
  }
  void reject(const Arrival& arrival, const CallFailure& failure) override {
    rejected.emplace_back(arrival.from, failure);
  }
  void stop() noexcept override {}

  std::vector<Answer> answers;
  std::vector<std::pair<int, CallFailure>> rejected;
};

class DistantServer : public plait_test::DistantTest {
 protected:
  static constexpr int kCallers = 3;
  DistantServer() : server_(kCallers, kCallers + 1) {
    auto file = std::make_shared<const LocalFile>(disk(0), plait::DistantMode::kWrite, kCallers, true);
    file->write(0, plait_test::make_bytes(4096, 1));
    server_.add(1, file);
  }
  ~DistantServer() override { server_.finish(); }
  void send_request(int from, const Head& head) {
    Arrival arrival;
    arrival.from = from;
    arrival.head = plait::distant::packed(head);
    (head.kind == RequestKind::kWrite ? arrival.payload_bytes : arrival.output_bytes) = head.bytes;
    server_.on_call(active_, arrival);
  }

  ReplyRecorder active_;
  Server server_;
};

TEST_F(DistantServer, ServesOnlyAsManyRequestsAtATimeAsItHasBuffers) {
  for (int i = 0; i < 100; ++i) send_request(0, {RequestKind::kRead, 1, 0, 4096});
  ASSERT_EQ(active_.answers.size(), static_cast<std::size_t>(Server::kBuffers));
  // Each answer that was sent frees a buffer, with which the server answers one more request.
  for (std::size_t i = 0; i < 84; ++i) {
    active_.answers[i].sent();
    ASSERT_EQ(active_.answers.size(), i + 1 + Server::kBuffers);
  }
  for (std::size_t i = 84; i < 100; ++i) active_.answers[i].sent();
  EXPECT_EQ(active_.answers.size(), 100U);
}

TEST_F(DistantServer, CallersTakeTurns) {
  for (int i = 0; i < 50; ++i) send_request(0, {RequestKind::kRead, 1, 0, 4096});
  for (int i = 0; i < 3; ++i) send_request(1, {RequestKind::kRead, 1, 0, 4096});
  for (int i = 0; i < 3; ++i) send_request(2, {RequestKind::kRead, 1, 0, 4096});
  const auto already_served = active_.answers.size();
  for (std::size_t i = 0; i < 9; ++i) active_.answers[i].sent();
  // Although the first caller has made many requests, those of the others are among the next nine.
  std::vector<int> served(kCallers, 0);
  for (std::size_t i = already_served; i < already_served + 9; ++i)
    ++served[static_cast<std::size_t>(active_.answers[i].to)];
  EXPECT_EQ(served, (std::vector<int>{3, 3, 3}));
}

TEST_F(DistantServer, RequestsOfACallerThatHasLeftAreDropped) {
  for (int i = 0; i < 40; ++i) send_request(0, {RequestKind::kRead, 1, 0, 4096});
  send_request(1, {RequestKind::kRead, 1, 0, 4096});
  server_.on_worker_ended(0);
  active_.answers[0].sent();
  ASSERT_EQ(active_.answers.size(), static_cast<std::size_t>(Server::kBuffers) + 1);
  EXPECT_EQ(active_.answers.back().to, 1);
}

TEST_F(DistantServer, ServesWritesAndSizesAndRejectsInvalidRequests) {
  send_request(0, {RequestKind::kWrite, 1, 4096, 10});
  ASSERT_EQ(active_.answers.size(), 1U);
  EXPECT_EQ(active_.answers[0].bytes, 0U);
  active_.answers[0].sent();
  send_request(1, {RequestKind::kSize, 1, 0, 8});
  ASSERT_EQ(active_.answers.size(), 2U);
  std::int64_t size = 0;
  std::memcpy(&size, active_.answers[1].data, sizeof size);
  EXPECT_EQ(size, 4106);
  send_request(2, {RequestKind::kRead, 2, 0, 10});
  ASSERT_EQ(active_.rejected.size(), 1U);
  EXPECT_EQ(active_.rejected[0].first, 2);
  EXPECT_NE(active_.rejected[0].second.text.find("has no file under this handle"), std::string::npos);
  // A rejected request releases its buffer.
  for (int i = 0; i < 100; ++i) send_request(2, {RequestKind::kRead, 2, 0, 10});
  EXPECT_EQ(active_.rejected.size(), 101U);
}

TEST_F(DistantServer, EveryCallIsAnsweredEvenWithoutMemory) {
  for (const Head& head : {Head{RequestKind::kRead, 2, 0, 10}, Head{RequestKind::kSize, 1, 0, 8},
                           Head{RequestKind::kWrite, 1, 4096, 10}}) {
    bool reached = true;
    for (int n = 1; n < 100 && reached; ++n) {
      active_.answers.clear();
      active_.rejected.clear();
      allocations::fail_at(n);
      send_request(1, head);
      reached = allocations::failed();
      ASSERT_EQ(active_.answers.size() + active_.rejected.size(), 1U) << static_cast<int>(head.kind) << ", " << n;
      for (const ReplyRecorder::Answer& answer : active_.answers) answer.sent();
    }
    EXPECT_FALSE(reached);
  }
}

}  // namespace
