// The C writer of events: many threads, forks, kills, reused numbers, full disks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/events/events.h"
#include "base/events/format.h"
#include "folder.hpp"
#include "plait/trace.hpp"
#include "trace_binary_case.hpp"

namespace {

using namespace plait::trace;
using plait_test::binary::all_of;
using plait_test::binary::content_of;
using plait_test::binary::write_content;

class TraceEvents : public plait_test::InFolder {
 protected:
  std::string trace_ = path("t.plait");

  int begin(std::uint32_t file = 1, std::uint64_t operation = 1, const char* command = "test") const {
    return plait_events_begin(trace_.c_str(), command, -1, file, operation);
  }
};

/// Runs something in a process of its own; returns how that ended, as wait says.
int apart(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

plait_event event_at(std::int64_t start, std::int64_t offset, std::uint32_t file = 1) {
  plait_event event{};
  event.start = start;
  event.duration = 10;
  event.offset = offset;
  event.length = event.result = 100;
  event.file = file;
  event.interface = PLAIT_INTERFACE_POSIX;
  event.flags = PLAIT_EVENT_LOGICAL;
  return event;
}

void put_some(int count, std::int64_t offset = 0, std::uint32_t file = 1) {
  for (int i = 0; i < count; ++i) {
    const plait_event event = event_at(plait_events_now(), offset + i, file);
    plait_events_put(&event);
  }
}

std::multiset<std::int64_t> offsets_of(const std::vector<Event>& events) {
  std::multiset<std::int64_t> all;
  for (const Event& event : events) all.insert(event.offset);
  return all;
}

std::multiset<std::int64_t> up_to(std::int64_t end) {
  std::multiset<std::int64_t> all;
  for (std::int64_t i = 0; i < end; ++i) all.insert(i);
  return all;
}

bool in_order(const std::vector<Event>& events) {
  return std::is_sorted(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
}

TEST_F(TraceEvents, NothingHappensWithoutATrace) {
  EXPECT_EQ(plait_events_active(), 0);
  put_some(3);
  EXPECT_EQ(plait_events_name("x"), 0U);
  plait_events_missed(PLAIT_MISSED_CALL, 1, 0, 0);
  plait_events_rank(3);
  plait_events_forked();
  plait_events_end();
  EXPECT_EQ(begin(), 0);
  EXPECT_EQ(begin(), EALREADY);
  EXPECT_EQ(plait_events_active(), 1);
  plait_events_end();
  put_some(3);
  plait_events_end();
  const auto reader = open_trace(trace_);
  EXPECT_TRUE(all_of(*reader).empty());
  EXPECT_TRUE(reader->description().complete);
  EXPECT_EQ(reader->description().processes.size(), 1U);
}

TEST_F(TraceEvents, WhatWasPutIsRead) {
  ASSERT_EQ(begin(), 0);
  const std::uint32_t file = plait_events_name("/data/one");
  const std::uint32_t other = plait_events_name("");
  EXPECT_EQ(file, 1U);
  EXPECT_EQ(other, 2U);
  EXPECT_EQ(plait_events_operation(), 1U);
  plait_event event = event_at(plait_events_now(), 4096, file);
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
  const std::vector<Event> events = all_of(*reader);
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
  const Description& known = reader->description();
  EXPECT_TRUE(known.complete);
  const std::vector<File> files = {{events[0].process, 1, "/data/one"}, {events[0].process, 2, ""}};
  EXPECT_EQ(known.files, files);
  ASSERT_EQ(known.processes.size(), 1U);
  EXPECT_EQ(known.processes[0].rank, 12);
  EXPECT_EQ(known.processes[0].command, "test");
  EXPECT_GT(known.processes[0].cpu, 0);
  EXPECT_FALSE(known.processes[0].host.empty());
  ASSERT_EQ(known.missed.size(), 1U);
  EXPECT_EQ(known.missed[0].events, 1);
  EXPECT_EQ(known.missed[0].read_bytes, 6);
  EXPECT_EQ(known.missed[0].written_bytes, 7);
  EXPECT_NEAR(static_cast<double>(known.zero + events[0].start), static_cast<double>(::time(nullptr)) * 1e9, 5e9);
}

TEST_F(TraceEvents, ManyThreadsAtOnce) {
  ASSERT_EQ(begin(), 0);
  constexpr int kThreads = 8;
  constexpr int kEach = 20000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      const std::uint32_t file = plait_events_name("file");
      put_some(kEach, std::int64_t{t} * kEach, file);
    });
  for (std::thread& thread : threads) thread.join();
  plait_events_end();
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  EXPECT_TRUE(in_order(events));
  EXPECT_EQ(offsets_of(events), up_to(std::int64_t{kThreads} * kEach));
  std::map<std::uint32_t, std::set<std::int64_t>> parts;  // each thread wrote one part
  for (const Event& event : events) parts[event.thread].insert(event.offset / kEach);
  EXPECT_EQ(parts.size(), std::size_t{kThreads});
  for (const auto& [thread, part] : parts) EXPECT_EQ(part.size(), 1U) << thread;
  EXPECT_EQ(reader->description().files.size(), std::size_t{kThreads});
  EXPECT_TRUE(reader->description().complete);
  EXPECT_TRUE(reader->description().missed.empty());
}

TEST_F(TraceEvents, ManyThreadsOneAfterTheOtherShareChunks) {
  ASSERT_EQ(begin(), 0);
  constexpr int kThreads = 2000;
  for (int t = 0; t < kThreads; ++t) std::thread([t] { put_some(2, t * 2); }).join();
  plait_events_end();
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  EXPECT_EQ(offsets_of(events), up_to(2 * kThreads));
  std::set<std::uint32_t> threads;
  for (const Event& event : events) threads.insert(event.thread);
  EXPECT_GT(threads.size(), 100U);
  EXPECT_LT(content_of(trace_).size(), std::size_t{kThreads} * 100);
}

TEST_F(TraceEvents, AsynchronousEventsAreSorted) {
  ASSERT_EQ(begin(), 0);
  const std::int64_t now = plait_events_now();
  for (int i = 0; i < 50000; ++i) {  // put when complete, started long before or a little before
    const std::int64_t start = now + i * 100 - (i % 1000 == 0 ? 3000000 : i % 7 * 500);
    const plait_event event = event_at(start, i);
    plait_events_put(&event);
  }
  plait_events_end();
  const std::vector<Event> events = all_of(*open_trace(trace_));
  EXPECT_TRUE(in_order(events));
  EXPECT_EQ(offsets_of(events), up_to(50000));
}

TEST_F(TraceEvents, KilledProcessLeavesAllItsEvents) {
  const int status = apart([&] {
    begin();
    plait_events_name("kept");
    put_some(100000);
    ::kill(::getpid(), SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto reader = open_trace(trace_);
  EXPECT_EQ(offsets_of(all_of(*reader)), up_to(100000));
  EXPECT_FALSE(reader->description().complete);
  ASSERT_FALSE(reader->description().notes.empty());
  EXPECT_NE(reader->description().notes[0].find("killed"), std::string::npos);
  EXPECT_EQ(reader->description().files.at(0).name, "kept");
}

TEST_F(TraceEvents, KilledAnywhereLeavesWhatIsReadable) {
  for (int round = 0; round < 20; ++round) {
    ::unlink(trace_.c_str());
    const pid_t child = ::fork();
    if (child == 0) {
      begin();
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t) threads.emplace_back([] { put_some(100000000); });
      threads[0].join();
    }
    ::usleep(static_cast<useconds_t>(1000 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (::access(trace_.c_str(), F_OK) != 0) continue;  // killed before it began
    const auto reader = open_trace(trace_);
    const std::vector<Event> events = all_of(*reader);
    EXPECT_TRUE(in_order(events));
    std::map<std::uint32_t, std::multiset<std::int64_t>> threads;  // of each thread, all from the first to the last
    for (const Event& event : events) threads[event.thread].insert(event.offset);
    for (const auto& [thread, offsets] : threads)
      EXPECT_EQ(offsets, up_to(static_cast<std::int64_t>(offsets.size()))) << thread;
    EXPECT_TRUE(reader->description().missed.empty());
  }
}

TEST_F(TraceEvents, ChildrenAreProcessesOfTheirOwn) {
  ASSERT_EQ(begin(), 0);
  const std::uint32_t file = plait_events_name("inherited");
  plait_events_name("not used by the child");
  put_some(10, 0, file);
  const std::uint32_t parent = static_cast<std::uint32_t>(::getpid());
  std::vector<std::uint32_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      if (child == 1) plait_events_forked();  // by hand; else it is noticed
      put_some(10, 10 + child * 20, file);
      put_some(10, 20 + child * 20, plait_events_name("its own"));
      plait_events_end();
      ::_exit(0);
    }
    children.push_back(static_cast<std::uint32_t>(id));
    int status = 0;
    ::waitpid(id, &status, 0);
  }
  put_some(1, 70, file);
  plait_events_end();
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  EXPECT_EQ(offsets_of(events), up_to(71));
  const Description& known = reader->description();
  EXPECT_TRUE(known.complete);
  ASSERT_EQ(known.processes.size(), 4U);
  EXPECT_EQ(known.processes[0].number, parent);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
  for (const File& one : known.files) names[{one.process, one.number}] = one.name;
  for (std::size_t child = 0; child < 3; ++child) {
    EXPECT_EQ(known.processes[child + 1].parent, parent);
    EXPECT_EQ((names[{children[child], 1}]), "inherited");
    EXPECT_EQ((names[{children[child], 3}]), "its own");
    EXPECT_FALSE((names.contains({children[child], 2})));
  }
  for (const Event& event : events) EXPECT_TRUE((names.contains({event.process, event.file})));
}

TEST_F(TraceEvents, AProgramThatAnotherReplacedKeepsItsNumber) {
  // Two beginnings in one process, as after exec: the second one's numbers begin anew.
  const int status = apart([&] {
    begin(1, 1, "shell");
    const std::uint32_t file = plait_events_name("first");
    plait_event event = event_at(plait_events_now(), 0, file);
    event.operation = plait_events_operation();
    plait_events_put(&event);
    plait_events_end();
    begin(1, 1, "program");
    event.file = plait_events_name("second");
    event.start = plait_events_now();
    event.operation = plait_events_operation();
    plait_events_put(&event);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  const Description& known = reader->description();
  ASSERT_EQ(events.size(), 2U);
  ASSERT_EQ(known.processes.size(), 1U);
  EXPECT_EQ(known.processes[0].command, "program");
  EXPECT_EQ(events[0].process, events[1].process);
  EXPECT_NE(events[0].file, events[1].file);
  EXPECT_NE(events[0].operation, events[1].operation);
  const std::vector<File> files = {{events[0].process, events[0].file, "first"},
                                   {events[1].process, events[1].file, "second"}};
  EXPECT_EQ(known.files, files);
}

TEST_F(TraceEvents, AnIdUsedTwiceIsTwoProcesses) {
  for (int round = 0; round < 2; ++round)
    apart([&] {
      begin(1, 1, round == 0 ? "one" : "two");
      plait_events_name(round == 0 ? "of one" : "of two");
      put_some(1, round);
      plait_events_end();
    });
  // The system does not give the same id again so soon: say in the file that it did.
  std::string bytes = content_of(trace_);
  std::uint32_t first = 0;
  for (std::size_t at = PLAIT_TRACE_HEADER; at < bytes.size(); at += PLAIT_TRACE_UNIT) {
    plait_chunk front;
    std::memcpy(&front, bytes.data() + at, sizeof front);
    if (std::memcmp(front.magic, PLAIT_CHUNK_MAGIC, 4) != 0) continue;
    if (first == 0) first = front.process;
    front.process = first;
    std::memcpy(bytes.data() + at, &front, sizeof front);
    plait_process_block block;
    std::memcpy(&block, bytes.data() + at + sizeof front, sizeof block);
    block.started += at;
    if (front.kind == PLAIT_CHUNK_PROCESS) std::memcpy(bytes.data() + at + sizeof front, &block, sizeof block);
  }
  write_content(trace_, bytes);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  const Description& known = reader->description();
  ASSERT_EQ(known.processes.size(), 2U);
  EXPECT_NE(known.processes[0].number, known.processes[1].number);
  EXPECT_EQ(known.processes[0].number, first);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].process, known.processes[0].number);
  EXPECT_EQ(events[1].process, known.processes[1].number);
  ASSERT_EQ(known.notes.size(), 1U);
  EXPECT_NE(known.notes[0].find(std::to_string(first) + " was used more than once"), std::string::npos);
  EXPECT_TRUE(known.complete);
}

TEST_F(TraceEvents, ManyProcessesBeginAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 24; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      if (begin() != 0) ::_exit(1);
      plait_events_name("file");
      put_some(500, child * 500);
      plait_events_end();
      ::_exit(0);
    }
    children.push_back(id);
  }
  for (const pid_t id : children) {
    int status = 0;
    ::waitpid(id, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  EXPECT_TRUE(in_order(events));
  EXPECT_EQ(offsets_of(events), up_to(24 * 500));
  EXPECT_EQ(reader->description().processes.size(), 24U);
  EXPECT_TRUE(reader->description().complete);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) EXPECT_EQ(entry.path().string(), trace_);
}

TEST_F(TraceEvents, AFileThatIsNoTraceIsLeftAlone) {
  write_content(trace_, "precious");
  EXPECT_EQ(begin(), EEXIST);
  EXPECT_EQ(plait_events_active(), 0);
  EXPECT_EQ(content_of(trace_), "precious");
  write_content(trace_, std::string(10000, 'x'));
  EXPECT_EQ(begin(), EEXIST);
  EXPECT_EQ(plait_events_begin(path("missing/t.plait").c_str(), "", -1, 1, 1), ENOENT);
  const std::string finished = path("finished.plait");
  create_trace(finished)->finish({});
  EXPECT_EQ(plait_events_begin(finished.c_str(), "", -1, 1, 1), EEXIST);
}

TEST_F(TraceEvents, AnotherHostWritesBesideIt) {
  apart([&] {
    begin(1, 1, "here");
    put_some(5, 0);
    plait_events_end();
  });
  std::string bytes = content_of(trace_);  // make it another host's, whose clock was 1000 s behind ours
  plait_trace_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memset(header.boot, 'b', sizeof header.boot - 1);
  header.monotonic -= 7;
  header.real += 1000000000000;
  std::memcpy(bytes.data(), &header, sizeof header);
  write_content(trace_, bytes);
  apart([&] {
    begin(1, 1, "there");
    put_some(5, 5);
    plait_events_end();
  });
  EXPECT_EQ(content_of(trace_).size(), bytes.size());
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  EXPECT_EQ(offsets_of(events), up_to(10));
  EXPECT_TRUE(in_order(events));
  EXPECT_LT(events.front().start, -990000000000);  // what ran here ran before the other's zero
  EXPECT_GE(events.front().offset, 5);
  EXPECT_EQ(reader->description().processes.size(), 2U);
  EXPECT_EQ(reader->description().notes.size(), 1U);
}

TEST_F(TraceEvents, WhereThereIsNoRoomEventsAreCounted) {
  const int status = apart([&] {
    ::rlimit limit{100000, 100000};  // growing further would end the process by a signal
    ::setrlimit(RLIMIT_FSIZE, &limit);
    if (begin() != 0) ::_exit(2);
    put_some(100000);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  EXPECT_GT(events.size(), 100U);
  const Description& known = reader->description();
  ASSERT_EQ(known.missed.size(), 1U);
  EXPECT_EQ(known.missed[0].events + static_cast<std::int64_t>(events.size()), 100000);
  EXPECT_EQ(known.missed[0].read_bytes, known.missed[0].events * 100);
}

TEST_F(TraceEvents, SurvivesClosedDescriptorsAndChangedFolders) {
  const int status = apart([&] {
    if (::chdir(folder_.c_str()) != 0) ::_exit(3);
    if (plait_events_begin("t.plait", "", -1, 1, 1) != 0) ::_exit(2);
    for (int file = 3; file < 256; ++file) ::close(file);
    if (::chdir("/") != 0) ::_exit(3);
    put_some(100000);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(all_of(*open_trace(trace_)).size(), 100000U);
}

std::atomic<int> from_handler{0};

void on_signal(int) {
  const plait_event event = event_at(plait_events_now(), 1 << 20);
  plait_events_put(&event);
  plait_events_name("from a handler");
  ++from_handler;
}

TEST_F(TraceEvents, SignalHandlersMayPut) {
  const int status = apart([&] {
    begin();
    struct sigaction action{};
    action.sa_handler = on_signal;
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 50}, {0, 50}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    put_some(300000);
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    const plait_event count = event_at(plait_events_now(), 1 << 21);
    plait_event last = count;
    last.length = from_handler;
    plait_events_put(&last);
    plait_events_end();
  });
  EXPECT_EQ(status, 0);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = all_of(*reader);
  std::int64_t handled = 0;
  std::int64_t counted = 0;
  std::int64_t own = 0;
  for (const Event& event : events) {
    if (event.offset == 1 << 21)
      counted = event.length;
    else if (event.offset == 1 << 20)
      ++handled;
    else
      ++own;
  }
  for (const Missed& missed : reader->description().missed) handled += missed.events;
  EXPECT_EQ(own, 300000);
  EXPECT_GT(counted, 0);
  EXPECT_EQ(handled, counted);
  EXPECT_TRUE(in_order(events));
}

}  // namespace
