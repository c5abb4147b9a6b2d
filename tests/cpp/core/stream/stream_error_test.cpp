// Errors of streams: wrong arguments, failures on all ranks, and streams of files that are closed or abandoned.
#include <gtest/gtest.h>

#include <optional>

#include "oracle.hpp"
#include "plait/error.hpp"
#include "plait/stream.hpp"
#include "stream_case.hpp"

namespace {

using namespace stream_case;
using oracle::expect_rejected;
using plait::Comm;
using plait::Error;
using plait::ErrorKind;
using plait::File;
using plait::Mode;
using plait::Stream;
using plait::StreamMode;
using plait::StreamRequest;

class StreamErrors : public StreamFolder {};

const std::vector<StreamMode> kModes{StreamMode::kOwn, StreamMode::kShared, StreamMode::kOrdered, StreamMode::kEqual,
                                     StreamMode::kSame};

TEST_F(StreamErrors, ArgumentsAreChecked) {
  make_numbers_file(20);
  for (const StreamMode mode : kModes)
    on_ranks({3, 0}, [&](const Comm& comm) {
      File file = File::open(path(), Mode::kRead, int64_options(20, kHeaderBytes), comm);
      Stream stream(file, mode);
      Numbers numbers(4);
      expect_rejected([&] { stream.read(bytes(numbers), -1); },
                      "-1 elements cannot be read; give a number of 0 or more");
      expect_rejected([&] { stream.write(bytes(numbers), 4); },
                      "is open for reading; open it with mode \"r+\" or \"w\"");
      expect_rejected([&] { stream.read(nullptr, 4); }, "the pointer to 4 elements is null");
      expect_rejected([&] { stream.start_read(bytes(numbers), -7).wait(); }, "-7 elements cannot be read");
      expect_rejected([&] { stream.seek(-1); }, "element -1 is not in the array; give 0 to 20 (its end)");
      expect_rejected([&] { stream.seek(21); }, "element 21 is not in the array");
      if (mode != StreamMode::kShared) {  // another rank may have moved a shared position
        EXPECT_EQ(stream.tell(), 0);
      }
      expect_rejected([&] { stream.fail("my own words"); }, "my own words");
      stream.seek(20);
      EXPECT_EQ(stream.read(bytes(numbers), 4), 0);
      file.close();
    });
  on_ranks({2, 0}, [&](const Comm& comm) {
    File file = File::open(path("new"), Mode::kWrite, int64_options(20, 0), comm);
    for (const StreamMode mode : kModes) {
      Stream stream(file, mode);
      Numbers numbers(4);
      expect_rejected([&] { stream.read(bytes(numbers), 4); }, "in which streams cannot read");
    }
    expect_rejected([&] { Stream(file, static_cast<StreamMode>(5)); }, "streams have the modes 0 to 4, but mode 5");
    expect_rejected([&] { Stream(file, comm.rank() == 0 ? StreamMode::kOwn : StreamMode::kSame); },
                    "rank 0 calls open a stream in mode 0");
    file.close();
  });
}

TEST_F(StreamErrors, AMistakeOfOneRankIsAnErrorOnAll) {
  make_numbers_file(20);
  for (const Ranks& ranks : {Ranks{3, 0}, Ranks{4, 2}})
    for (const StreamMode mode : {StreamMode::kOrdered, StreamMode::kEqual, StreamMode::kSame})
      on_ranks(ranks, [&](const Comm& comm) {
        File file = File::open(path(), Mode::kReadWrite, int64_options(20, kHeaderBytes), comm);
        Stream stream(file, mode);
        Numbers numbers(4);
        const bool is_wrong = comm.rank() == 1;
        expect_rejected([&] { stream.read(bytes(numbers), is_wrong ? -1 : 2); }, "-1 elements cannot be read");
        expect_rejected([&] { is_wrong ? stream.seek(30) : stream.seek(3); }, "element 30 is not in the array");
        expect_rejected([&] { stream.seek(is_wrong ? 2 : 3); }, "the ranks of a collective call differ");
        expect_rejected([&] { is_wrong ? stream.fail("a bad array") : (void)stream.read(bytes(numbers), 2); },
                        "a bad array (on rank 1)");
        if (is_wrong) stream.close();
        expect_rejected([&] { stream.read(bytes(numbers), 2); }, "is closed; open another one (on rank 1)");
        file.close();
      });
}

TEST_F(StreamErrors, AReadOfATruncatedFileFailsOnAllRanks) {
  for (const StreamMode mode : {StreamMode::kOrdered, StreamMode::kEqual, StreamMode::kSame})
    for (const Ranks& ranks : {Ranks{3, 0}, Ranks{4, 2}, Ranks{3, 1}}) {
      make_numbers_file(100'000);
      on_ranks(ranks, [&](const Comm& comm) {
        File file = File::open(path(), Mode::kRead, int64_options(100'000, kHeaderBytes, 20'000), comm);
        Stream stream(file, mode);
        std::filesystem::resize_file(path(), 8000);
        Numbers numbers(5000);
        // In mode 2 (kOrdered) only the last rank reads elements beyond the end of the truncated file.
        const std::int64_t count =
            mode == StreamMode::kSame || mode == StreamMode::kEqual || comm.rank() == comm.size() - 1 ? 5000 : 10;
        try {
          stream.read(bytes(numbers), count);
          ADD_FAILURE() << "the file was truncated, but the read succeeded";
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kSystem);
          EXPECT_NE(std::string(error.what()).find("it has been truncated"), std::string::npos) << error.what();
        }
        EXPECT_EQ(stream.tell(), 0);
        EXPECT_EQ(stream.read(bytes(numbers), 10), 10);  // the streams still work
        file.close();
      });
    }
}

TEST_F(StreamErrors, CallsOnClosedStreamsAndFilesFail) {
  make_numbers_file(20);
  for (const StreamMode mode : kModes)
    on_ranks({2, 0}, [&](const Comm& comm) {
      std::optional<File> file = File::open(path(), Mode::kReadWrite, int64_options(20, kHeaderBytes), comm);
      std::vector<Stream> streams;
      for (int i = 0; i < 3; ++i) streams.emplace_back(*file, mode);
      Numbers numbers(4);
      EXPECT_TRUE(streams[0].is_open());
      streams[0].close();
      streams[0].close();
      EXPECT_FALSE(streams[0].is_open());
      expect_rejected([&] { streams[0].read(bytes(numbers), 4); }, "is closed; open another one");
      expect_rejected([&] { streams[0].tell(); }, "is closed; open another one");
      expect_rejected([&] { streams[0].seek(1); }, "is closed; open another one");
      // Closing the file waits for pending requests of its streams, and closes the streams.
      std::vector<Numbers> parts(5, Numbers(2, -1));
      std::vector<StreamRequest> requests;
      for (Numbers& part : parts) requests.push_back(streams[1].start_read(bytes(part), 2));
      file->close();
      for (StreamRequest& request : requests) EXPECT_TRUE(request.test());
      EXPECT_EQ(requests[0].wait(), 2);
      for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_FALSE(streams[i].is_open());
        expect_rejected([&] { streams[i].read(bytes(numbers), 4); }, "is closed; open it again");
        expect_rejected([&] { streams[i].write(bytes(numbers), 4); }, "is closed; open it again");
        expect_rejected([&] { streams[i].tell(); }, "is closed; open it again");
        expect_rejected([&] { streams[i].seek(1); }, "is closed; open it again");
        expect_rejected([&] { streams[i].start_read(bytes(numbers), 1).wait(); }, "is closed; open it again");
      }
      expect_rejected([&] { Stream(*file, mode); }, "is closed; open it again");
      // A stream may outlive its File.
      file.reset();
      expect_rejected([&] { streams[1].read(bytes(numbers), 4); }, "is closed; open it again");
      EXPECT_FALSE(streams[2].is_open());
      streams[2].close();
    });
}

TEST_F(StreamErrors, CallsOnStreamsOfAbandonedFilesFail) {
  for (const StreamMode mode : kModes) {
    on_ranks({2, 0}, [&](const Comm& comm) {
      File file = File::open(path("new"), Mode::kWrite, int64_options(20, 0), comm);
      Stream stream(file, mode);
      Numbers numbers(4);
      EXPECT_EQ(stream.write(bytes(numbers), 4), 4);
      file.abandon();
      EXPECT_THROW(stream.write(bytes(numbers), 4), Error);
      EXPECT_THROW(stream.tell(), Error);
      EXPECT_FALSE(stream.is_open());
    });
    EXPECT_FALSE(std::filesystem::exists(path("new")));
  }
}

TEST_F(StreamErrors, TheDestructorWaitsForPendingRequests) {
  make_numbers_file(200'000);
  for (const StreamMode mode : kModes)
    on_ranks({2, 0}, [&](const Comm& comm) {
      Numbers actual(50'000);
      File file = File::open(path(), Mode::kRead, int64_options(200'000, kHeaderBytes), comm);
      {
        Stream(file, mode).start_read(bytes(actual), 50'000);
      }
      // The destructor has waited for the request, so the memory is filled.
      if (mode != StreamMode::kShared) {
        const bool has_parts_by_rank = mode == StreamMode::kOrdered || mode == StreamMode::kEqual;
        EXPECT_EQ(actual, range(has_parts_by_rank ? comm.rank() * 50'000 : 0, 50'000));
      }
      file.close();
    });
}

}  // namespace
