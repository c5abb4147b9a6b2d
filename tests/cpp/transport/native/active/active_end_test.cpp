// Active messages between threads that call each other through sockets, as processes do.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "job_case.hpp"
#include "native_case.hpp"
#include "transport/native/active/active_end.hpp"
#include "transport/native/active/addresses.hpp"
#include "transport/native/active/native_active.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace plait::transport::native {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Answers with the payload of a call or, without one, with `output_bytes` copies of the head's first byte. Rejects
/// calls whose head begins with 9.
class Echo : public CallService {
 public:
  void on_call(ActiveMessages& active, const Arrival& arrival) override {
    const bool is_deferred = defers_answers;
    if (is_deferred) deferred.push_back(arrival);
    ++calls;
    if (!is_deferred) serve(active, arrival);
  }
  void on_worker_ended(int worker) override {
    const std::scoped_lock lock(mutex_);
    ended_workers_.insert(worker);
  }
  std::set<int> ended_workers() {
    const std::scoped_lock lock(mutex_);
    return ended_workers_;
  }

  void serve(ActiveMessages& active, const Arrival& arrival) {
    if (arrival.payload_bytes == 0)
      return answer(active, arrival, std::make_shared<Bytes>(buffer_bytes(arrival), first_byte(arrival)));
    auto body = std::make_shared<Bytes>(static_cast<std::size_t>(arrival.payload_bytes));
    active.receive_payload(arrival, *body, [this, &active, arrival, body](bool complete) {
      if (complete) {
        answer(active, arrival, body);
      } else {
        ++lost_payloads;
      }
    });
  }

  std::atomic<int> calls{0};
  std::atomic<int> lost_payloads{0};
  std::atomic<int> unsent{0};               // answers whose memory is still in use
  std::atomic<bool> defers_answers{false};  // calls are recorded, and the test answers them by serve()
  std::vector<Arrival> deferred;            // written by the handler's thread before it increments `calls`

 private:
  static std::size_t buffer_bytes(const Arrival& arrival) { return static_cast<std::size_t>(arrival.output_bytes); }
  static std::byte first_byte(const Arrival& arrival) { return arrival.head[0]; }
  void answer(ActiveMessages& active, const Arrival& arrival, const std::shared_ptr<Bytes>& body) {
    if (first_byte(arrival) == std::byte{9}) return active.reject(arrival, {ErrorKind::kSystem, EBADF, "not here"});
    body->resize(buffer_bytes(arrival));
    ++unsent;
    active.answer(arrival, *body, [this, body] { --unsent; });
  }

  std::mutex mutex_;  // protects ended_workers_
  std::set<int> ended_workers_;
};

/// Records how one call ends: with an answer or an error.
class CallRecorder {
 public:
  std::function<void(const CallFailure*)> make_callback() {
    return [this](const CallFailure* failure) {
      const std::scoped_lock lock(mutex_);
      if (failure != nullptr) failure_ = *failure;
      failed_ = failure != nullptr;
      ++ends_;
      changed_.notify_all();
    };
  }
  bool ended() {
    const std::scoped_lock lock(mutex_);
    return ends_ > 0;
  }
  /// Waits until the call ends. Returns its error; "" if it was answered.
  std::string wait(ActiveMessages& active) {
    active.poll_answers_until([this] { return ended(); });
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, seconds(20), [this] { return ends_ > 0; })) return "nothing has come";
    EXPECT_EQ(ends_, 1);
    return failed_ ? std::to_string(failure_.code) + " " + failure_.text : "";
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  CallFailure failure_;
  bool failed_ = false;
  int ends_ = 0;
};

/// Makes a call with a payload to a rank, which answers into `buffer`.
Call make_call(int to, CallRecorder& recorder, std::span<const std::byte> payload, std::span<std::byte> buffer,
               int head = 0) {
  Call call;
  call.to = to;
  call.head[0] = static_cast<std::byte>(head);
  call.payload = payload;
  call.output = buffer;
  call.done = recorder.make_callback();
  return call;
}

/// One rank's active messages, and the service that answers its calls.
struct End {
  explicit End(Transport& transport) : active(make_native_active(transport, echo, losses)) {}
  ~End() { active->stop(); }
  std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  std::shared_ptr<Losses> losses = std::make_shared<Losses>();
  std::shared_ptr<ActiveMessages> active;
};

void barrier(Transport& transport) {
  std::int64_t unused = 1;
  transport.reduce_min(std::span(&unused, 1));
}

/// Waits until a condition holds. Returns false if it does not hold before the deadline.
template <typename Condition>
bool wait_until(Condition&& condition) {
  const auto limit = test_deadline();
  while (!condition() && Clock::now() < limit) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

void call_in_all_sizes(Transport& transport) {
  End end(transport);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4000}, std::size_t{70'000},
                                  std::size_t{1} << 20, std::size_t{5'000'001}}) {
    for (int to = 0; to < transport.size(); ++to) {
      const Bytes payload = make_bytes(bytes, static_cast<unsigned>(to));
      Bytes buffer(bytes);
      CallRecorder recorder;
      end.active->call(make_call(to, recorder, payload, buffer));
      ASSERT_EQ(recorder.wait(*end.active), "");
      ASSERT_EQ(buffer, payload);
      CallRecorder without_payload;
      end.active->call(make_call(to, without_payload, {}, buffer, 7));
      ASSERT_EQ(without_payload.wait(*end.active), "");
      ASSERT_EQ(buffer, Bytes(bytes, std::byte{7}));
    }
  }
  barrier(transport);
  EXPECT_TRUE(end.echo->ended_workers().empty());
  barrier(transport);
}

TEST(NativeActive, CallsOfAllSizesAreAnswered) { thread::run_team(3, call_in_all_sizes); }

TEST(NativeActive, RanksWithoutMpiAnswerCalls) { job_case::run_job(3, call_in_all_sizes); }

TEST(NativeActive, ManyPendingCallsAreQueued) {
  thread::run_team(4, [](Transport& transport) {
    End end(transport);
    constexpr std::size_t kCalls = 300;
    std::deque<CallRecorder> recorders(kCalls);
    std::deque<Bytes> buffers;
    std::deque<Bytes> payloads;
    for (std::size_t i = 0; i < kCalls; ++i) {
      const std::size_t bytes = i % 7 == 0 ? 200'000 : i;
      payloads.push_back(make_bytes(bytes, static_cast<unsigned>(i)));
      buffers.emplace_back(bytes);
      end.active->call(make_call(static_cast<int>(i % 4), recorders[i], payloads[i], buffers[i]));
    }
    for (std::size_t i = kCalls; i-- > 0;) {
      ASSERT_EQ(recorders[i].wait(*end.active), "");
      ASSERT_EQ(buffers[i], payloads[i]);
    }
    barrier(transport);
  });
}

TEST(NativeActive, RejectionsStateAReason) {
  thread::run_team(2, [](Transport& transport) {
    End end(transport);
    const Bytes payload = make_bytes(100'000);
    for (const bool has_payload : {false, true}) {
      CallRecorder recorder;
      Bytes buffer(10);
      end.active->call(make_call(1 - transport.rank(), recorder,
                                 has_payload ? std::span(payload) : std::span<const std::byte>(), buffer, 9));
      EXPECT_EQ(recorder.wait(*end.active), std::to_string(EBADF) + " not here");
    }
    barrier(transport);
  });
}

/// The service may receive the payload of a call later; the next frames of the connection wait until then.
TEST(NativeActive, PayloadsWaitUntilTheyAreReceived) {
  thread::run_team(2, [](Transport& transport) {
    End end(transport);
    if (transport.rank() == 0) end.echo->defers_answers = true;
    barrier(transport);
    if (transport.rank() == 1) {
      const Bytes payload = make_bytes(3'000'000);
      std::array<Bytes, 3> buffers{Bytes(3'000'000), Bytes(3'000'000), Bytes(5)};
      std::array<CallRecorder, 3> recorders;
      end.active->call(make_call(0, recorders[0], payload, buffers[0]));
      end.active->call(make_call(0, recorders[1], payload, buffers[1]));
      end.active->call(make_call(0, recorders[2], {}, buffers[2], 3));
      barrier(transport);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(recorders[i].wait(*end.active), "");
      EXPECT_EQ(buffers[0], payload);
      EXPECT_EQ(buffers[1], payload);
      EXPECT_EQ(buffers[2], Bytes(5, std::byte{3}));
    } else {
      EXPECT_TRUE(wait_until([&] { return end.echo->calls == 1; }));
      std::this_thread::sleep_for(milliseconds(50));
      EXPECT_EQ(end.echo->calls, 1);  // the other calls wait until the payload of the first is received
      end.echo->defers_answers = false;
      end.echo->serve(*end.active, end.echo->deferred.front());
      barrier(transport);
    }
    barrier(transport);
  });
}

TEST(NativeActive, CallsToAndFromARankThatHasStoppedFail) {
  thread::run_team(3, [](Transport& transport) {
    auto end = std::make_unique<End>(transport);
    Bytes buffer(4);
    if (transport.rank() == 2) {
      end->echo->defers_answers = true;
      barrier(transport);
      EXPECT_TRUE(wait_until([&] { return end->echo->calls == 2; }));
      CallRecorder after_stop;
      end->active->stop();
      end->active->call(make_call(0, after_stop, {}, buffer));
      EXPECT_NE(after_stop.wait(*end->active).find("has been freed"), std::string::npos);
      // An answer after stop() is not sent, and its memory is released.
      end->echo->serve(*end->active, end->echo->deferred.front());
      EXPECT_EQ(end->echo->unsent, 0);
      barrier(transport);
    } else {
      barrier(transport);
      CallRecorder recorder;
      const auto begin = Clock::now();
      end->active->call(make_call(2, recorder, {}, buffer));
      EXPECT_EQ(recorder.wait(*end->active),
                std::to_string(EOWNERDEAD) + " rank 2 has ended or left; nothing of it can be reached any more");
      EXPECT_LT(Clock::now() - begin, seconds(8));
      CallRecorder again;
      end->active->call(make_call(2, again, {}, buffer));
      EXPECT_NE(again.wait(*end->active).find("rank 2 has ended or left"), std::string::npos);
      barrier(transport);
      EXPECT_TRUE(wait_until([&] { return end->echo->ended_workers() == std::set<int>{2}; }));
      EXPECT_NO_THROW(end->losses->check());  // an orderly stop is not a loss
      CallRecorder other;
      end->active->call(make_call(1 - transport.rank(), other, {}, buffer));
      EXPECT_EQ(other.wait(*end->active), "");
    }
    barrier(transport);
  });
}

TEST(NativeActive, CallsToARankThatStoppedEarlierFail) {
  thread::run_team(2, [](Transport& transport) {
    End end(transport);
    if (transport.rank() == 1) end.active->stop();
    barrier(transport);
    if (transport.rank() == 0) {
      CallRecorder recorder;
      Bytes buffer(4);
      end.active->call(make_call(1, recorder, {}, buffer));
      EXPECT_NE(recorder.wait(*end.active).find("rank 1 has ended or left"), std::string::npos);
    }
    barrier(transport);
  });
}

/// With many ranks, each has connections to only a few others; the ranks forward the report of a loss to each other.
TEST(NativeActive, ALossIsReportedToAllRanks) {
  constexpr int kRanks = 70;
  thread::run_team(kRanks, [](Transport& transport) {
    End end(transport);
    barrier(transport);
    end.losses->check_waiting();  // as in a wait for all ranks, which starts to monitor them
    barrier(transport);
    if (transport.rank() == 3) dynamic_cast<PeerEvents&>(*end.active).on_loss(41, 2);
    const auto is_reported = [&] {
      try {
        end.losses->check();
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(transport.rank() == 41 ? "rank " : "rank 41 "), std::string::npos);
        return true;
      }
      return false;
    };
    EXPECT_TRUE(transport.rank() == 41 || wait_until(is_reported)) << transport.rank();
    barrier(transport);
  });
}

TEST(NativeActive, EndpointsAreExchangedBetweenNodes) {
  thread::run_team(5, [](Transport& team) {
    wrapped::SeveralNodes transport(team, 2);
    Endpoints endpoints = own_host();
    endpoints.name = "host" + std::to_string(team.rank());
    for (int i = 0; i < 100; ++i) endpoints.addresses.push_back("tcp:10.0.0.1:" + std::to_string(1000 + i));
    const auto all = exchange_endpoints(transport, endpoints, /*error=*/"");
    ASSERT_EQ(all.size(), 5U);
    for (std::size_t rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(all[rank].name, "host" + std::to_string(rank));
      EXPECT_GE(all[rank].addresses.size(), 20U);  // as many as the message has capacity for
      EXPECT_EQ(all[rank].addresses.front(), "tcp:10.0.0.1:1000");
    }
    const Key key = agree_on_key(transport);
    EXPECT_EQ(key.text().size(), 64U);
  });
}

TEST(NativeActive, AFailureOfOneRankIsAnErrorOnAll) {
  thread::run_team(4, [](Transport& team) {
    wrapped::SeveralNodes transport(team, 2);
    try {
      exchange_endpoints(transport, own_host(), team.rank() == 2 ? "no socket" : "");
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "rank 2: no socket");
    }
  });
}

}  // namespace
}  // namespace plait::transport::native
