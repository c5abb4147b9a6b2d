// The event writer in many processes: forked, killed, replaced by exec, and on several hosts.
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
  const int status = run_in_child([&] {
    begin();
    plait_events_name("kept");
    put_events(100000);
    ::kill(::getpid(), SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto reader = open_trace(trace_);
  EXPECT_EQ(event_offsets(read_all(*reader)), offsets_below(100000));
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
      for (int t = 0; t < 3; ++t) threads.emplace_back([] { put_events(100000000); });
      threads[0].join();
    }
    ::usleep(static_cast<useconds_t>(1000 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (::access(trace_.c_str(), F_OK) != 0) continue;  // killed before the trace was created
    const auto reader = open_trace(trace_);
    const std::vector<Event> events = read_all(*reader);
    EXPECT_TRUE(is_sorted_by_start(events));
    std::map<std::uint32_t, std::multiset<std::int64_t>> threads;  // by thread; without gaps
    for (const Event& event : events) threads[event.thread].insert(event.offset);
    for (const auto& [thread, offsets] : threads)
      EXPECT_EQ(offsets, offsets_below(static_cast<std::int64_t>(offsets.size()))) << thread;
    EXPECT_TRUE(reader->description().missed.empty());
  }
}

TEST_F(TraceProcesses, ChildrenAreSeparateProcesses) {
  ASSERT_EQ(begin(), 0);
  const std::uint32_t file = plait_events_name("inherited");
  plait_events_name("not used by the child");
  put_events(10, 0, file);
  const std::uint32_t parent = static_cast<std::uint32_t>(::getpid());
  std::vector<std::uint32_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      if (child == 1) plait_events_forked();  // reported explicitly; other forks are detected
      put_events(10, 10 + child * 20, file);
      put_events(10, 20 + child * 20, plait_events_name("its own"));
      plait_events_end();
      ::_exit(0);
    }
    children.push_back(static_cast<std::uint32_t>(id));
    int status = 0;
    ::waitpid(id, &status, 0);
  }
  put_events(1, 70, file);
  plait_events_end();
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  EXPECT_EQ(event_offsets(events), offsets_below(71));
  const Description& description = reader->description();
  EXPECT_TRUE(description.complete);
  ASSERT_EQ(description.processes.size(), 4U);
  EXPECT_EQ(description.processes[0].number, parent);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
  for (const File& named_file : description.files) names[{named_file.process, named_file.number}] = named_file.name;
  for (std::size_t child = 0; child < 3; ++child) {
    EXPECT_EQ(description.processes[child + 1].parent, parent);
    EXPECT_EQ((names[{children[child], 1}]), "inherited");
    EXPECT_EQ((names[{children[child], 3}]), "its own");
    EXPECT_FALSE((names.contains({children[child], 2})));
  }
  for (const Event& event : events) EXPECT_TRUE((names.contains({event.process, event.file})));
}

TEST_F(TraceProcesses, AProgramThatAnotherReplacedKeepsItsNumber) {
  // The writer starts twice in one process, as after exec: the numbers of the second start from 1 again.
  const int status = run_in_child([&] {
    begin(1, 1, "shell");
    const std::uint32_t file = plait_events_name("first");
    plait_event event = make_event(plait_events_now(), 0, file);
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
  const Description& description = reader->description();
  ASSERT_EQ(events.size(), 2U);
  ASSERT_EQ(description.processes.size(), 1U);
  EXPECT_EQ(description.processes[0].command, "program");
  EXPECT_EQ(events[0].process, events[1].process);
  EXPECT_NE(events[0].file, events[1].file);
  EXPECT_NE(events[0].operation, events[1].operation);
  const std::vector<File> files = {{events[0].process, events[0].file, "first"},
                                   {events[1].process, events[1].file, "second"}};
  EXPECT_EQ(description.files, files);
}

TEST_F(TraceProcesses, AnIdUsedTwiceIsTwoProcesses) {
  for (int round = 0; round < 2; ++round)
    run_in_child([&] {
      begin(1, 1, round == 0 ? "one" : "two");
      plait_events_name(round == 0 ? "of one" : "of two");
      put_events(1, round);
      plait_events_end();
    });
  // The system does not reuse a process id so soon, so change the trace as if it had: put the id of the first process
  // in each chunk of both, with different start times.
  std::string bytes = read_file(trace_);
  std::uint32_t first = 0;
  for (std::size_t offset = PLAIT_TRACE_HEADER; offset < bytes.size(); offset += PLAIT_TRACE_UNIT) {
    plait_chunk chunk;
    std::memcpy(&chunk, bytes.data() + offset, sizeof chunk);
    if (std::memcmp(chunk.magic, PLAIT_CHUNK_MAGIC, 4) != 0) continue;
    if (first == 0) first = chunk.process;
    chunk.process = first;
    std::memcpy(bytes.data() + offset, &chunk, sizeof chunk);
    plait_process_block block;
    std::memcpy(&block, bytes.data() + offset + sizeof chunk, sizeof block);
    block.started += offset;
    if (chunk.kind == PLAIT_CHUNK_PROCESS) std::memcpy(bytes.data() + offset + sizeof chunk, &block, sizeof block);
  }
  write_content(trace_, bytes);
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  const Description& description = reader->description();
  ASSERT_EQ(description.processes.size(), 2U);
  EXPECT_NE(description.processes[0].number, description.processes[1].number);
  EXPECT_EQ(description.processes[0].number, first);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].process, description.processes[0].number);
  EXPECT_EQ(events[1].process, description.processes[1].number);
  ASSERT_EQ(description.notes.size(), 1U);
  EXPECT_NE(description.notes[0].find(std::to_string(first) + " was used more than once"), std::string::npos);
  EXPECT_TRUE(description.complete);
}

TEST_F(TraceProcesses, ManyProcessesBeginAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 24; ++child) {
    const pid_t id = ::fork();
    if (id == 0) {
      if (begin() != 0) ::_exit(1);
      plait_events_name("file");
      put_events(500, child * 500);
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
  EXPECT_TRUE(is_sorted_by_start(events));
  EXPECT_EQ(event_offsets(events), offsets_below(24 * 500));
  EXPECT_EQ(reader->description().processes.size(), 24U);
  EXPECT_TRUE(reader->description().complete);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) EXPECT_EQ(entry.path().string(), trace_);
}

TEST_F(TraceProcesses, AnotherHostWritesToTheSameTrace) {
  run_in_child([&] {
    begin(1, 1, "here");
    put_events(5, 0);
    plait_events_end();
  });
  // Pretend that another host wrote this trace: with another boot id, and a clock that is 1000 s ahead.
  std::string bytes = read_file(trace_);
  plait_trace_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memset(header.boot, 'b', sizeof header.boot - 1);
  header.monotonic -= 7;
  header.real += 1000000000000;
  std::memcpy(bytes.data(), &header, sizeof header);
  write_content(trace_, bytes);
  run_in_child([&] {
    begin(1, 1, "there");
    put_events(5, 5);
    plait_events_end();
  });
  EXPECT_EQ(read_file(trace_).size(), bytes.size());
  const auto reader = open_trace(trace_);
  const std::vector<Event> events = read_all(*reader);
  EXPECT_EQ(event_offsets(events), offsets_below(10));
  EXPECT_TRUE(is_sorted_by_start(events));
  EXPECT_LT(events.front().start, -990000000000);  // events of this host are before time zero of the other
  EXPECT_GE(events.front().offset, 5);
  EXPECT_EQ(reader->description().processes.size(), 2U);
  EXPECT_EQ(reader->description().notes.size(), 1U);
}

}  // namespace
