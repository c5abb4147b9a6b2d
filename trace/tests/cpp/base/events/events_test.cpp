// The event writer with many threads, signal handlers, and full disks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "events_case.hpp"

namespace {

using namespace plait::trace;
using namespace plait_test::binary;

using TraceEvents = TraceTest;

TEST_F(TraceEvents, DoesNothingWithoutATrace) {
  EXPECT_EQ(plait_events_active(), 0);
  put_events(3);
  EXPECT_EQ(plait_events_name("x"), 0U);
  plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
  plait_events_rank(3);
  plait_events_forked();
  plait_events_end();
  EXPECT_EQ(begin(), 0);
  EXPECT_EQ(begin(), EALREADY);
  EXPECT_EQ(plait_events_active(), 1);
  plait_events_end();
  put_events(3);
  plait_events_end();
  const auto reader = open_trace(trace_);
  EXPECT_TRUE(read_all(*reader).empty());
  EXPECT_TRUE(reader->description().complete);
  EXPECT_EQ(reader->description().processes.size(), 1U);
}

TEST_F(TraceEvents, RecordedEventsAreRead) {
  ASSERT_EQ(begin(), 0);
  const std::uint32_t file = plait_events_name("/data/one");
  const std::uint32_t other = plait_events_name("");
  EXPECT_EQ(file, 1U);
  EXPECT_EQ(other, 2U);
  EXPECT_EQ(plait_events_operation(), 1U);
  plait_event event = make_event(plait_events_now(), 4096, file);
  event.operation = 77;
  event.duration = -1;
  plait_events_put(&event);
  event.start += 1000;
  event.kind = PLAIT_EVENT_WRITE;
  event.result = -ENOSPC;
  event.file = other;
  event.offset = -1;
  event.flags = PLAIT_EVENT_DIRECT;
  event.interface = PLAIT_INTERFACE_URING;
  plait_events_put(&event);
  plait_events_missed(PLAIT_MISSED_KERNEL, 0, 5, 6);
  plait_events_missed(PLAIT_MISSED_KERNEL, 1, 1, 1);
  plait_events_rank(12);
  plait_events_end();

  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].operation, 77U);
  EXPECT_EQ(events[0].duration, kUnknown);
  EXPECT_EQ(events[0].offset, 4096);
  EXPECT_EQ(events[0].result, 100);
  EXPECT_EQ(events[0].process, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(events[0].thread, static_cast<std::uint32_t>(::gettid()));
  EXPECT_GT(events[0].cpu, 0);
  EXPECT_EQ(events[1].start - events[0].start, 1000);
  EXPECT_EQ(events[1].kind, Kind::kWrite);
  EXPECT_EQ(events[1].interface, Interface::kUring);
  EXPECT_EQ(events[1].flags, flag::kDirect);
  EXPECT_EQ(events[1].result, -ENOSPC);
  EXPECT_EQ(events[1].offset, kUnknown);
  EXPECT_EQ(events[1].file, other);
  const Description& description = reader->description();
  EXPECT_TRUE(description.complete);
  const std::vector<File> files = {{events[0].process, 1, "/data/one"}, {events[0].process, 2, ""}};
  EXPECT_EQ(description.files, files);
  ASSERT_EQ(description.processes.size(), 1U);
  EXPECT_EQ(description.processes[0].rank, 12);
  EXPECT_EQ(description.processes[0].command, "test");
  EXPECT_GT(description.processes[0].cpu, 0);
  EXPECT_FALSE(description.processes[0].host.empty());
  ASSERT_EQ(description.missed.size(), 1U);
  EXPECT_EQ(description.missed[0].events, 1);
  EXPECT_EQ(description.missed[0].read_bytes, 6);
  EXPECT_EQ(description.missed[0].written_bytes, 7);
  EXPECT_NEAR(static_cast<double>(description.zero + events[0].start), static_cast<double>(::time(nullptr)) * 1e9, 5e9);
}

TEST_F(TraceEvents, ManyThreadsAtOnce) {
  ASSERT_EQ(begin(), 0);
  constexpr int kThreads = 8;
  constexpr int kEventsPerThread = 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      const std::uint32_t file = plait_events_name("file");
      put_events(kEventsPerThread, std::int64_t{t} * kEventsPerThread, file);
    });
  for (std::thread& thread : threads) thread.join();
  plait_events_end();
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  EXPECT_TRUE(is_sorted_by_start(events));
  EXPECT_EQ(event_offsets(events), offsets_below(std::int64_t{kThreads} * kEventsPerThread));
  std::map<std::uint32_t, std::set<std::int64_t>> parts;  // thread → ranges of offsets that it recorded
  for (const Event& event : events) parts[event.thread].insert(event.offset / kEventsPerThread);
  EXPECT_EQ(parts.size(), std::size_t{kThreads});
  for (const auto& [thread, part] : parts) EXPECT_EQ(part.size(), 1U) << thread;
  EXPECT_EQ(reader->description().files.size(), std::size_t{kThreads});
  EXPECT_TRUE(reader->description().complete);
  EXPECT_TRUE(reader->description().missed.empty());
}

TEST_F(TraceEvents, ManyConsecutiveThreadsShareChunks) {
  ASSERT_EQ(begin(), 0);
  constexpr int kThreads = 2000;
  for (int t = 0; t < kThreads; ++t) std::thread([t] { put_events(2, t * 2); }).join();
  plait_events_end();
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  EXPECT_EQ(event_offsets(events), offsets_below(2 * kThreads));
  std::set<std::uint32_t> threads;
  for (const Event& event : events) threads.insert(event.thread);
  EXPECT_GT(threads.size(), 100U);
  EXPECT_LT(read_file(trace_).size(), std::size_t{kThreads} * 100);
}

TEST_F(TraceEvents, AsynchronousEventsAreSorted) {
  ASSERT_EQ(begin(), 0);
  const std::int64_t now = plait_events_now();
  for (int i = 0; i < 50000; ++i) {  // recorded when complete; started long before or shortly before
    const std::int64_t start = now + i * 100 - (i % 1000 == 0 ? 3000000 : i % 7 * 500);
    const plait_event event = make_event(start, i);
    plait_events_put(&event);
  }
  plait_events_end();
  const std::vector<Event> events = read_all(*open_trace(trace_));
  EXPECT_TRUE(is_sorted_by_start(events));
  EXPECT_EQ(event_offsets(events), offsets_below(50000));
}

TEST_F(TraceEvents, AFileThatIsNotATraceStaysUnchanged) {
  write_content(trace_, "precious");
  EXPECT_EQ(begin(), EEXIST);
  EXPECT_EQ(plait_events_active(), 0);
  EXPECT_EQ(read_file(trace_), "precious");
  write_content(trace_, std::string(10000, 'x'));
  EXPECT_EQ(begin(), EEXIST);
  EXPECT_EQ(plait_events_begin(path("missing/t.plait").c_str(), "", -1, 1, 1), ENOENT);
  const std::string finished = path("finished.plait");
  create_trace(finished)->finish({});
  EXPECT_EQ(plait_events_begin(finished.c_str(), "", -1, 1, 1), EEXIST);
}

TEST_F(TraceEvents, EventsAreCountedIfThereIsNoSpace) {
  const int status = run_in_child([&] {
    ::rlimit limit{100000, 100000};  // growing beyond the limit would kill the process by a signal
    ::setrlimit(RLIMIT_FSIZE, &limit);
    if (begin() != 0) ::_exit(2);
    put_events(100000);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  EXPECT_GT(events.size(), 100U);
  const Description& description = reader->description();
  ASSERT_EQ(description.missed.size(), 1U);
  EXPECT_EQ(description.missed[0].events + static_cast<std::int64_t>(events.size()), 100000);
  EXPECT_EQ(description.missed[0].read_bytes, description.missed[0].events * 100);
}

TEST_F(TraceEvents, SurvivesClosedDescriptorsAndChangedFolders) {
  const int status = run_in_child([&] {
    if (::chdir(folder_.c_str()) != 0) ::_exit(3);
    if (plait_events_begin("t.plait", "", -1, 1, 1) != 0) ::_exit(2);
    for (int file = 3; file < 256; ++file) ::close(file);
    if (::chdir("/") != 0) ::_exit(3);
    put_events(100000);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_all(*open_trace(trace_)).size(), 100000U);
}

std::atomic<int> handler_calls{0};

constexpr std::int64_t kHandlerOffset = 1 << 20;  // of the events that the handler records
constexpr std::int64_t kCountOffset = 1 << 21;    // of an event whose length is the number of calls of the handler

void on_signal(int) {
  const plait_event event = make_event(plait_events_now(), kHandlerOffset);
  plait_events_put(&event);
  plait_events_name("from a handler");
  ++handler_calls;
}

TEST_F(TraceEvents, SignalHandlersMayRecordEvents) {
  const int status = run_in_child([&] {
    begin();
    struct sigaction action{};
    action.sa_handler = on_signal;
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 50}, {0, 50}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    put_events(300000);
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    plait_event count = make_event(plait_events_now(), kCountOffset);
    count.length = handler_calls;
    plait_events_put(&count);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  std::int64_t handler_events = 0;
  std::int64_t recorded_calls = 0;
  std::int64_t other_events = 0;
  for (const Event& event : events) {
    if (event.offset == kCountOffset)
      recorded_calls = event.length;
    else if (event.offset == kHandlerOffset)
      ++handler_events;
    else
      ++other_events;
  }
  // An event is counted as missed if its signal interrupts the writer itself.
  for (const MissedCalls& missed : reader->description().missed) handler_events += missed.events;
  EXPECT_EQ(other_events, 300000);
  EXPECT_GT(recorded_calls, 0);
  EXPECT_EQ(handler_events, recorded_calls);
  EXPECT_TRUE(is_sorted_by_start(events));
}

}  // namespace
