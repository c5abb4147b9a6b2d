// The binary trace format: written traces are read back, and damage is reported.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "folder.hpp"
#include "plait/error.hpp"
#include "plait/trace.hpp"
#include "trace_binary_case.hpp"

namespace {

using namespace plait::trace;
using plait_test::binary::make_reader;
using plait_test::binary::random_events;
using plait_test::binary::read_all;

using TraceBinary = plait_test::FolderTest;

std::string write_trace(const std::vector<Event>& events, const Description& description) {
  std::string bytes;
  const auto writer = find_format("plait").create(make_text_sink(bytes), {});
  for (const Process& process : description.processes) writer->add(process);
  for (const File& file : description.files) writer->add(file);
  writer->write(events);
  writer->finish(description);
  return bytes;
}

Description full_description() {
  Description d;
  d.zero = 1700000000123456789;
  d.tick = 10000;
  d.complete = false;
  d.processes = {{7, 0, 3, "node-1", "a.out --fast", 123456789}, {8, 7, -1, "", "", kUnknown}, {9, 8, 0, "n", "c", 0}};
  d.files = {{7, 1, "/data/in"}, {8, 1, "/data/out"}, {7, 4000000000U, std::string("odd\0name\n", 9)}, {9, 0, ""}};
  d.missed = {{"reason one", 5, -1, INT64_MAX}, {"", 0, 0, 0}};
  d.counters = {{7, 3, Interface::kPosix, 0, {{"reads", INT64_MAX}, {"", INT64_MIN}}}, {}};
  d.notes = {"first", "", "third \xff"};
  return d;
}

void expect_same(const Description& actual, const Description& expected) {
  EXPECT_EQ(actual.format, "plait");
  EXPECT_EQ(actual.zero, expected.zero);
  EXPECT_EQ(actual.tick, expected.tick);
  EXPECT_EQ(actual.complete, expected.complete);
  EXPECT_EQ(actual.processes, expected.processes);
  EXPECT_EQ(actual.files, expected.files);
  EXPECT_EQ(actual.missed, expected.missed);
  EXPECT_EQ(actual.counters, expected.counters);
  EXPECT_EQ(actual.notes, expected.notes);
}

TEST_F(TraceBinary, EveryFieldComesBack) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<Event> events = random_events(seed * 37, seed);
    const auto reader = make_reader("plait", write_trace(events, full_description()));
    EXPECT_EQ(read_all(*reader, seed + 1), events) << seed;
    expect_same(reader->description(), full_description());
  }
}

TEST_F(TraceBinary, EventsMayStartAtEitherEndOfTime) {
  std::vector<Event> events(2);
  events[0].start = INT64_MIN;
  events[1].start = INT64_MAX;
  const auto reader = make_reader("plait", write_trace(events, full_description()));
  EXPECT_EQ(read_all(*reader, 1), events);
}

TEST_F(TraceBinary, ManyChunksAndThreadsComeBack) {
  const std::vector<Event> events = random_events(100000, 1, 3000);  // 3000 threads, more than a chunk may hold
  const std::string path = this->path("t.plait");
  const auto writer = create_trace(path);
  writer->write(events);
  writer->finish({});
  const auto reader = open_trace(path);
  EXPECT_EQ(read_all(*reader), events);
  EXPECT_TRUE(reader->description().complete);
  EXPECT_EQ(reader->bytes_read(), reader->bytes_in_all());
}

TEST_F(TraceBinary, CopyIsEqual) {
  const std::vector<Event> events = random_events(5000, 2);
  const std::string bytes = write_trace(events, full_description());
  std::string again;
  const auto reader = make_reader("plait", bytes);
  const auto writer = find_format("plait").create(make_text_sink(again), {});
  EXPECT_EQ(copy(*reader, *writer), 5000);
  EXPECT_TRUE(again == bytes);
}

TEST_F(TraceBinary, EventsWithoutOrderAreSorted) {
  std::vector<Event> events = random_events(20000, 3);
  std::mt19937_64 random(4);
  std::shuffle(events.begin(), events.end(), random);
  const auto reader = make_reader("plait", write_trace(events, {}));
  std::vector<Event> sorted = events;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
  EXPECT_EQ(read_all(*reader), sorted);
}

TEST_F(TraceBinary, SequentialInputIsSmall) {
  std::vector<Event> events(100000);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].start = static_cast<std::int64_t>(i) * 1500 + static_cast<std::int64_t>(i % 7) * 30;
    events[i].duration = 800 + static_cast<std::int64_t>(i % 13) * 10;
    events[i].offset = static_cast<std::int64_t>(i) * 4096;
    events[i].length = events[i].result = 4096;
  }
  EXPECT_LT(write_trace(events, {}).size(), events.size() * 6);
}

TEST_F(TraceBinary, InvalidEventsAreRejected) {
  Event event;
  event.kind = static_cast<Kind>(16);
  EXPECT_THROW(write_trace({event}, {}), plait::Error);
  EXPECT_THROW(make_reader("plait", "not a trace"), plait::Error);
  EXPECT_THROW(make_reader("plait", ""), plait::Error);
}

// Checks that events that are read from a damaged trace are in order, and that its description reports any difference.
void expect_damage_reported(std::string_view bytes, const std::vector<Event>& events, const Description& expected,
                            const std::string& damage) {
  std::unique_ptr<Reader> reader;
  try {
    reader = make_reader("plait", bytes);
  } catch (const plait::Error&) {
    return;  // the header is damaged
  }
  const std::vector<Event> read_events = read_all(*reader);
  EXPECT_TRUE(std::is_sorted(read_events.begin(), read_events.end(), [](const Event& a, const Event& b) {
    return a.start < b.start;
  })) << damage;
  EXPECT_LE(read_events.size(), bytes.size()) << damage;
  const Description& actual = reader->description();
  if (read_events.size() != events.size() || actual.processes.size() != expected.processes.size() ||
      actual.files.size() != expected.files.size()) {
    EXPECT_FALSE(actual.complete) << damage;
    EXPECT_FALSE(actual.notes.empty()) << damage;
  }
}

TEST_F(TraceBinary, CutAtEachLength) {
  Description description = full_description();
  description.complete = true;
  description.notes.clear();
  const std::vector<Event> events = random_events(60, 5);
  const std::string bytes = write_trace(events, description);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    expect_damage_reported(std::string_view(bytes).substr(0, length), events, description,
                           "cut at " + std::to_string(length));
}

TEST_F(TraceBinary, DamagedAtEachByte) {
  Description description = full_description();
  description.complete = true;
  const std::vector<Event> events = random_events(60, 6);
  const std::string bytes = write_trace(events, description);
  for (const unsigned damage : {0x01U, 0x80U, 0xffU})
    for (std::size_t position = 0; position < bytes.size(); ++position) {
      std::string damaged = bytes;
      damaged[position] = static_cast<char>(static_cast<unsigned char>(damaged[position]) ^ damage);
      std::unique_ptr<Reader> reader;
      try {
        reader = make_reader("plait", damaged);
      } catch (const plait::Error&) {
        continue;
      }
      const std::vector<Event> read_events = read_all(*reader);
      EXPECT_TRUE(std::is_sorted(read_events.begin(), read_events.end(), [](const Event& a, const Event& b) {
        return a.start < b.start;
      })) << position;
    }
}

TEST_F(TraceBinary, RandomBytesAreReadSafely) {
  const std::string bytes = write_trace(random_events(2000, 7), full_description());
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 20; ++i) damaged[4096 + random() % (damaged.size() - 4096)] = static_cast<char>(random());
    const auto reader = make_reader("plait", damaged);
    EXPECT_LE(read_all(*reader).size(), damaged.size());
  }
}

}  // namespace
