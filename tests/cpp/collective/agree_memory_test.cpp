// Workers without any memory hear of errors all the same, as an Error: whatever else they threw would have them look
// for another agreement.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "collective/agree.hpp"
#include "plait/error.hpp"
#include "transport/abandoned_numbers.hpp"
#include "transport/thread/team.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::transport::Transport;
using plait::transport::thread::run_team;

constexpr int kWorkers = 3;

/// What each worker heard, where worker 1 has no memory from its n-th allocation on.
template <typename Body>
std::vector<std::string> heard_without_memory(std::int64_t n, Body&& body) {
  std::vector<std::string> heard(kWorkers);
  run_team(kWorkers, [&](Transport& transport) {
    std::string& mine = heard[static_cast<std::size_t>(transport.rank())];
    mine.reserve(4096);
    if (transport.rank() == 1) allocations::fail_from(n);
    try {
      body(transport);
    } catch (const Error& error) {
      mine = error.what();
    } catch (const std::exception& error) {
      mine = "no Error: ";
      mine += error.what();
    }
    allocations::failed();
    std::array<std::int64_t, 1> lowest{transport.rank()};
    transport.reduce_min(lowest);  // no rank is at another agreement
  });
  return heard;
}

void expect_told(const std::vector<std::string>& heard, const std::string& what, std::int64_t n) {
  EXPECT_EQ(heard[0], what) << n;
  EXPECT_EQ(heard[2], what) << n;
  EXPECT_TRUE(heard[1] == what || heard[1].starts_with("out of memory")) << n << ": " << heard[1];
}

TEST(AgreeWithoutMemory, AnErrorOfAnotherIsAnError) {
  const std::string what = "a disk of rank 0 has failed, in more words than fit where no memory is needed";
  for (std::int64_t n = 1; n < 20; ++n)
    expect_told(heard_without_memory(n,
                                     [&](Transport& transport) {
                                       std::exception_ptr mine;
                                       if (transport.rank() == 0)
                                         mine = std::make_exception_ptr(Error(ErrorKind::kSystem, what, 5));
                                       plait::collective::agree(transport, mine);
                                     }),
                what + " (on rank 0)", n);
}

TEST(AgreeWithoutMemory, ADifferenceIsAnError) {
  for (std::int64_t n = 1; n < 20; ++n)
    expect_told(heard_without_memory(n,
                                     [&](Transport& transport) {
                                       const std::string call = transport.rank() == 0 ? "read" : "write";
                                       plait::collective::agree(transport, call, nullptr);
                                     }),
                "the ranks of a collective call differ: rank 0 calls read, rank 1 calls write; make the same call on "
                "every rank",
                n);
}

TEST(AgreeWithoutMemory, WhatIsGivenUpIsRemembered) {
  const std::string what = "a file was given up, which is told in more words than fit without memory";
  constexpr std::int64_t kNumber = 7;
  const std::vector<std::string> heard = heard_without_memory(1, [&](Transport& transport) {
    std::exception_ptr mine;
    if (transport.rank() == 2) mine = std::make_exception_ptr(Error(ErrorKind::kSystem, what));
    try {
      if (transport.rank() == 2) plait::collective::give_up(transport, kNumber, mine);
      plait::collective::agree(transport, mine);
    } catch (const Error&) {
      EXPECT_TRUE(transport.given_up().contains(kNumber));
      throw;
    }
  });
  expect_told(heard, what + " (on rank 2)", 1);
}

}  // namespace
