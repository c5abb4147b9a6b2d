// Failures of collective calls: all workers get the same error, and the error for calls that differ names them.
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

/// The error of each worker; empty texts without an error.
struct AgreedErrors {
  std::vector<std::string> texts;
  std::vector<ErrorKind> kinds;
  std::vector<int> codes;
};

/// Runs an agreement in which `act(rank)` may throw the error of a rank, and `calls` are the calls of ranks 0, 1, ...,
/// repeated. Checks that all workers get the same error.
template <typename Act>
AgreedErrors run_agreement(int workers, const std::vector<std::string>& calls, Act&& act) {
  const auto count = static_cast<std::size_t>(workers);
  AgreedErrors errors{std::vector<std::string>(count), std::vector<ErrorKind>(count), std::vector<int>(count)};
  run_team(workers, [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    try {
      agree(transport, calls[rank % calls.size()], plait::collective::caught([&] { act(transport.rank()); }));
    } catch (const Error& error) {
      errors.texts[rank] = error.what();
      errors.kinds[rank] = error.kind();
      errors.codes[rank] = error.system_code();
    }
    // The team can make further agreements after any error.
    agree(transport, "afterwards", nullptr);
  });
  for (std::size_t i = 1; i < count; ++i) {
    EXPECT_EQ(errors.texts[i], errors.texts[0]);
    EXPECT_EQ(errors.kinds[i], errors.kinds[0]);
    EXPECT_EQ(errors.codes[i], errors.codes[0]);
  }
  return errors;
}

TEST(Agree, SucceedsWithoutErrors) {
  for (int workers = 1; workers <= 5; ++workers) EXPECT_EQ(run_agreement(workers, {"read"}, [](int) {}).texts[0], "");
}

TEST(Agree, AllWorkersGetTheErrorOfOne) {
  for (int workers = 2; workers <= 5; ++workers)
    for (int failing_rank = 0; failing_rank < workers; ++failing_rank) {
      const AgreedErrors errors = run_agreement(workers, {"read"}, [&](int rank) {
        if (rank == failing_rank) throw Error(ErrorKind::kSystem, "the disk is gone", EIO);
      });
      EXPECT_EQ(errors.texts[0], "the disk is gone (on rank " + std::to_string(failing_rank) + ")");
      EXPECT_EQ(errors.kinds[0], ErrorKind::kSystem);
      EXPECT_EQ(errors.codes[0], EIO);
    }
}

TEST(Agree, TheErrorOfTheLowestWorkerIsReported) {
  const AgreedErrors errors = run_agreement(4, {"read"}, [](int rank) {
    if (rank % 2 == 1) throw Error(ErrorKind::kArgument, "wrong on " + std::to_string(rank));
  });
  EXPECT_EQ(errors.texts[0], "wrong on 1 (on rank 1)");
  EXPECT_EQ(errors.kinds[0], ErrorKind::kArgument);
}

TEST(Agree, AnErrorOnAllWorkersNamesNoRank) {
  for (const int workers : {1, 3}) {
    const AgreedErrors errors =
        run_agreement(workers, {"read"}, [](int) { throw Error(ErrorKind::kArgument, "no such file"); });
    EXPECT_EQ(errors.texts[0], "no such file");
  }
}

TEST(Agree, OtherExceptionsBecomeErrors) {
  EXPECT_EQ(run_agreement(3, {"read"}, [](int rank) { rank == 1 ? throw std::bad_alloc() : void(); }).texts[0],
            "out of memory (on rank 1)");
  const AgreedErrors errors =
      run_agreement(3, {"read"}, [](int rank) { rank == 2 ? throw std::out_of_range("far out") : void(); });
  EXPECT_EQ(errors.texts[0], "far out (on rank 2)");
  EXPECT_EQ(errors.kinds[0], ErrorKind::kSystem);
}

TEST(Agree, LongMessagesAreTruncated) {
  const AgreedErrors errors = run_agreement(2, {"read"}, [](int rank) {
    if (rank == 1) throw Error(ErrorKind::kArgument, "start " + std::string(100'000, 'x'));
  });
  EXPECT_TRUE(errors.texts[0].starts_with("start xxx"));
  EXPECT_TRUE(errors.texts[0].ends_with("x (on rank 1)"));
  EXPECT_GT(errors.texts[0].size(), 1000U);
}

TEST(Agree, CallsThatDifferAreNamed) {
  const AgreedErrors errors = run_agreement(2, {"read(a)", "read(b)"}, [](int) {});
  EXPECT_EQ(errors.kinds[0], ErrorKind::kArgument);
  EXPECT_EQ(errors.texts[0],
            "the ranks of a collective call differ: rank 0 calls read(a), rank 1 calls read(b); "
            "make the same call on every rank");
  EXPECT_NE(run_agreement(4, {"read", "read", "read", "write"}, [](int) {}).texts[0].find("rank 3 calls write"),
            std::string::npos);
}

TEST(Agree, ErrorsTakePrecedenceOverDifferences) {
  const AgreedErrors errors = run_agreement(3, {"close()", "read", "read"}, [](int rank) {
    if (rank == 2) throw Error(ErrorKind::kArgument, "the array does not fit");
  });
  EXPECT_EQ(errors.texts[0], "the array does not fit (on rank 2)");
}

TEST(Agree, LongCallsThatDifferOnlyAtTheEndAreDetected) {
  const std::string common(9000, 'x');
  const AgreedErrors errors = run_agreement(2, {common + "1", common + "2"}, [](int) {});
  EXPECT_NE(errors.texts[0].find("the ranks of a collective call differ"), std::string::npos);
}

}  // namespace
