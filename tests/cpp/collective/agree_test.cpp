// How a collective fails together: everyone is told one error, and the calls that differ.
#include "collective/agree.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "plait/error.hpp"
#include "transport/thread/team.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::collective::agree;
using plait::transport::Transport;
using plait::transport::thread::run_team;

/// What each worker of a team is told when `mine` gives each its error.
struct AgreedErrors {
  std::vector<std::string> texts;
  std::vector<ErrorKind> kinds;
  std::vector<int> codes;
};

template <typename Mine>
AgreedErrors tell(int workers, const std::vector<std::string>& calls, Mine&& mine) {
  const auto count = static_cast<std::size_t>(workers);
  AgreedErrors told{std::vector<std::string>(count), std::vector<ErrorKind>(count), std::vector<int>(count)};
  run_team(workers, [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    try {
      agree(transport, calls[rank % calls.size()], plait::collective::caught([&] { mine(transport.rank()); }));
    } catch (const Error& error) {
      told.texts[rank] = error.what();
      told.kinds[rank] = error.kind();
      told.codes[rank] = error.system_code();
    }
    // Whatever happened, the team goes on.
    agree(transport, "afterwards", nullptr);
  });
  for (std::size_t i = 1; i < count; ++i) {
    EXPECT_EQ(told.texts[i], told.texts[0]);
    EXPECT_EQ(told.kinds[i], told.kinds[0]);
    EXPECT_EQ(told.codes[i], told.codes[0]);
  }
  return told;
}

TEST(Agree, AllIsWell) {
  for (int workers = 1; workers <= 5; ++workers) EXPECT_EQ(tell(workers, {"read"}, [](int) {}).texts[0], "");
}

TEST(Agree, OneWorkersErrorIsEveryones) {
  for (int workers = 2; workers <= 5; ++workers)
    for (int bad = 0; bad < workers; ++bad) {
      const AgreedErrors told = tell(workers, {"read"}, [&](int rank) {
        if (rank == bad) throw Error(ErrorKind::kSystem, "the disk is gone", EIO);
      });
      EXPECT_EQ(told.texts[0], "the disk is gone (on rank " + std::to_string(bad) + ")");
      EXPECT_EQ(told.kinds[0], ErrorKind::kSystem);
      EXPECT_EQ(told.codes[0], EIO);
    }
}

TEST(Agree, TheLowestWorkersErrorIsChosen) {
  const AgreedErrors told = tell(4, {"read"}, [](int rank) {
    if (rank % 2 == 1) throw Error(ErrorKind::kArgument, "wrong on " + std::to_string(rank));
  });
  EXPECT_EQ(told.texts[0], "wrong on 1 (on rank 1)");
  EXPECT_EQ(told.kinds[0], ErrorKind::kArgument);
}

TEST(Agree, AnErrorOfAllNamesNoRank) {
  for (const int workers : {1, 3}) {
    const AgreedErrors told = tell(workers, {"read"}, [](int) { throw Error(ErrorKind::kArgument, "no such file"); });
    EXPECT_EQ(told.texts[0], "no such file");
  }
}

TEST(Agree, OtherExceptionsBecomeErrors) {
  EXPECT_EQ(tell(3, {"read"}, [](int rank) { rank == 1 ? throw std::bad_alloc() : void(); }).texts[0],
            "out of memory (on rank 1)");
  const AgreedErrors told =
      tell(3, {"read"}, [](int rank) { rank == 2 ? throw std::out_of_range("far out") : void(); });
  EXPECT_EQ(told.texts[0], "far out (on rank 2)");
  EXPECT_EQ(told.kinds[0], ErrorKind::kSystem);
}

TEST(Agree, LongMessagesAreCutNotLost) {
  const AgreedErrors told = tell(2, {"read"}, [](int rank) {
    if (rank == 1) throw Error(ErrorKind::kArgument, "start " + std::string(100'000, 'x'));
  });
  EXPECT_TRUE(told.texts[0].starts_with("start xxx"));
  EXPECT_TRUE(told.texts[0].ends_with("x (on rank 1)"));
  EXPECT_GT(told.texts[0].size(), 1000U);
}

TEST(Agree, CallsThatDifferAreNamed) {
  const AgreedErrors two = tell(2, {"read(a)", "read(b)"}, [](int) {});
  EXPECT_EQ(two.kinds[0], ErrorKind::kArgument);
  EXPECT_EQ(two.texts[0],
            "the ranks of a collective call differ: rank 0 calls read(a), rank 1 calls read(b); "
            "make the same call on every rank");
  EXPECT_NE(tell(4, {"read", "read", "read", "write"}, [](int) {}).texts[0].find("rank 3 calls write"),
            std::string::npos);
}

TEST(Agree, AnErrorComesBeforeADifference) {
  const AgreedErrors told = tell(3, {"close()", "read", "read"}, [](int rank) {
    if (rank == 2) throw Error(ErrorKind::kArgument, "the array does not fit");
  });
  EXPECT_EQ(told.texts[0], "the array does not fit (on rank 2)");
}

TEST(Agree, LongCallsThatDifferAtTheirEndAreNoticed) {
  const std::string same(9000, 'x');
  const AgreedErrors told = tell(2, {same + "1", same + "2"}, [](int) {});
  EXPECT_NE(told.texts[0].find("the ranks of a collective call differ"), std::string::npos);
}

}  // namespace
