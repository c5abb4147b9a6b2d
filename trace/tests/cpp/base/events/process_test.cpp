// The C writer of events in many processes: forked, killed, replaced, on several hosts.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/events/format.h"
#include "events_case.hpp"

namespace {

using namespace plait::trace;
using namespace plait_test::binary;

using TraceProcesses = TraceTest;

TEST_F(TraceProcesses, KilledProcessLeavesAllItsEvents) {
  const int status = apart([&] {
    begin();
    plait_events_name("kept");
    put_some(100000);
    ::kill(::getpid(), SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto reader = open_trace(trace_);
  EXPECT_EQ(event_offsets(read_all(*reader)), up_to(100000));
  EXPECT_FALSE(reader->description().complete);
  ASSERT_FALSE(reader->description().notes.empty());
  EXPECT_NE(reader->description().notes[0].find("killed"), std::string::npos);
  EXPECT_EQ(reader->description().files.at(0).name, "kept");
}

TEST_F(TraceProcesses, KilledAnywhereLeavesAReadableTrace) {
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
    if (::access(trace_.c_str(), F_OK) != 0) continue;  // killed before the trace was created
    const auto reader = open_trace(trace_);
    const std::vector<Event> events = read_all(*reader);
    EXPECT_TRUE(in_order(events));
    std::map<std::uint32_t, std::multiset<std::int64_t>> threads;  // by thread; without gaps
    for (const Event& event : events) threads[event.thread].insert(event.offset);
    for (const auto& [thread, offsets] : threads)
      EXPECT_EQ(offsets, up_to(static_cast<std::int64_t>(offsets.size()))) << thread;
    EXPECT_TRUE(reader->description().missed.empty());
  }
}

TEST_F(TraceProcesses, ChildrenAreSeparateProcesses) {
  ASSERT_EQ(begin(), 0);
  const std::uint32_t file = plait_events_name("inherited");
  plait_events_name("not used by the child");
  put_some(10, 0, file);
  const std::uint32_t parent = static_cast<std::uint32_t>(::getpid());
  std::vector<std::uint32_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      if (child == 1) plait_events_forked();  // reported explicitly; other forks are detected
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
  const std::vector<Event> events = read_all(*reader);
  EXPECT_EQ(event_offsets(events), up_to(71));
  const Description& known = reader->description();
  EXPECT_TRUE(known.complete);
  ASSERT_EQ(known.processes.size(), 4U);
  EXPECT_EQ(known.processes[0].number, parent);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
  for (const File& known_file : known.files) names[{known_file.process, known_file.number}] = known_file.name;
  for (std::size_t child = 0; child < 3; ++child) {
    EXPECT_EQ(known.processes[child + 1].parent, parent);
    EXPECT_EQ((names[{children[child], 1}]), "inherited");
    EXPECT_EQ((names[{children[child], 3}]), "its own");
    EXPECT_FALSE((names.contains({children[child], 2})));
  }
  for (const Event& event : events) EXPECT_TRUE((names.contains({event.process, event.file})));
}

TEST_F(TraceProcesses, AProgramThatAnotherReplacedKeepsItsNumber) {
  // The writer starts twice in one process, as after exec: the numbers of the second start from 1 again.
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
  const std::vector<Event> events = read_all(*reader);
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

TEST_F(TraceProcesses, AnIdUsedTwiceIsTwoProcesses) {
  for (int round = 0; round < 2; ++round)
    apart([&] {
      begin(1, 1, round == 0 ? "one" : "two");
      plait_events_name(round == 0 ? "of one" : "of two");
      put_some(1, round);
      plait_events_end();
    });
  // The system does not reuse an id so soon: change the file as if it did.
  std::string bytes = read_file(trace_);
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
  const std::vector<Event> events = read_all(*reader);
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

TEST_F(TraceProcesses, ManyProcessesBeginAtOnce) {
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
  const std::vector<Event> events = read_all(*reader);
  EXPECT_TRUE(in_order(events));
  EXPECT_EQ(event_offsets(events), up_to(24 * 500));
  EXPECT_EQ(reader->description().processes.size(), 24U);
  EXPECT_TRUE(reader->description().complete);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) EXPECT_EQ(entry.path().string(), trace_);
}

TEST_F(TraceProcesses, AnotherHostWritesToTheSameTrace) {
  apart([&] {
    begin(1, 1, "here");
    put_some(5, 0);
    plait_events_end();
  });
  std::string bytes = read_file(trace_);  // pretend another host wrote it, whose clock was 1000 s behind
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
  EXPECT_EQ(read_file(trace_).size(), bytes.size());
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  EXPECT_EQ(event_offsets(events), up_to(10));
  EXPECT_TRUE(in_order(events));
  EXPECT_LT(events.front().start, -990000000000);  // events of this host are before time zero of the other
  EXPECT_GE(events.front().offset, 5);
  EXPECT_EQ(reader->description().processes.size(), 2U);
  EXPECT_EQ(reader->description().notes.size(), 1U);
}

}  // namespace
