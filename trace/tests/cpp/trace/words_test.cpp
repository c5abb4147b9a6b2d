// The names in traces: events in text, and the trace itself in errors.
#include "trace/words.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "folder.hpp"
#include "plait/error.hpp"
#include "plait/trace.hpp"

namespace plait::trace {
namespace {

using TraceInFolder = plait_test::FolderTest;

TEST(TraceNames, NamesAndNumbersAreInverse) {
  EXPECT_EQ(kind_names().size(), kKinds);
  for (std::size_t i = 0; i < kKinds; ++i) EXPECT_EQ(parse_kind(kind_names()[i]), static_cast<Kind>(i));
  for (std::size_t i = 0; i < kInterfaces; ++i)
    EXPECT_EQ(parse_interface(interface_names()[i]), static_cast<Interface>(i));
  EXPECT_EQ(kind_word(Kind::kPhase), "phase");
  EXPECT_EQ(interface_word(Interface::kPosixAio), "posix-aio");
  EXPECT_THROW(static_cast<void>(kind_word(static_cast<Kind>(kKinds))), Error);
}

TEST(TraceNames, FilesContainTheseNumbers) {
  EXPECT_EQ(static_cast<int>(Kind::kMap), 8);
  EXPECT_EQ(static_cast<int>(Kind::kPhase), 15);
  EXPECT_EQ(static_cast<int>(Interface::kMpiIo), 9);
  EXPECT_EQ(static_cast<int>(Interface::kLoader), 12);
  EXPECT_EQ(static_cast<int>(Interface::kHttp), 13);
  EXPECT_EQ(flag::kLogical | flag::kAppend | flag::kVirtualMemory, 0x2083);
}

TEST(TraceNames, CountsAgreeWithTheirNouns) {
  EXPECT_EQ(count_text(0, "line was", "lines were"), "0 lines were");
  EXPECT_EQ(count_text(1, "line was", "lines were"), "1 line was");
  EXPECT_EQ(count_text(2, "line was", "lines were"), "2 lines were");
}

TEST_F(TraceInFolder, ErrorsUseTheGivenNameOfATrace) {
  const std::string nonsense_path = path("copied");
  std::ofstream(nonsense_path) << "nonsense";
  ReadOptions options;
  options.shown = "log.gz";
  for (const std::string& trace_path : {nonsense_path, path("missing")}) {
    try {
      open_trace(trace_path, options);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the trace log.gz"), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find(trace_path), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace plait::trace
