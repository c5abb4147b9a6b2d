// The texts, kinds and codes of errors, and reasons for rejections that become errors.
#include "base/errors.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "base/files/open_file.hpp"

namespace plait::base {
namespace {

/// Returns the error of a call, if it throws one.
std::optional<Error> catch_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

TEST(Errors, ReportWrongArgumentsWithoutASystemCode) {
  const auto error = catch_error([] { throw_argument_error(std::string("a.npy"), " has ", 3, ' ', "dimensions"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kArgument);
  EXPECT_EQ(error->system_code(), 0);
  EXPECT_STREQ(error->what(), "a.npy has 3 dimensions");
}

TEST(Errors, ReportFailuresOfTheSystemWithTheirCode) {
  const auto error = catch_error([] { throw_system_error(ENOSPC, "cannot write ", 8, " bytes"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kSystem);
  EXPECT_EQ(error->system_code(), ENOSPC);
  EXPECT_STREQ(error->what(), "cannot write 8 bytes");
}

TEST(Errors, OverflowsOfProductsNameBothFactors) {
  const auto error = catch_error([] { checked_multiply(INT64_MAX, 2, "elements"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kArgument);
  EXPECT_STREQ(error->what(), "elements: 9223372036854775807 * 2 passes 2^63 - 1; use a smaller size");
}

TEST(Errors, MissingFoldersHaveACodeAndAHint) {
  const auto error = catch_error([] { open_file("/no-such-folder/a.npy", 0); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kSystem);
  EXPECT_EQ(error->system_code(), ENOENT);
  EXPECT_STREQ(error->what(),
               "cannot open /no-such-folder/a.npy: No such file or directory; the folder /no-such-folder does not "
               "exist");
}

TEST(Rejection, AllowsByDefault) {
  const Rejection allowed;
  EXPECT_FALSE(allowed);
  EXPECT_EQ(allowed.reason(), "");
  EXPECT_FALSE(Rejection(""));
}

TEST(Rejection, StatesAReason) {
  const Rejection rejection = Rejection::because("it has ", 3, " dimensions");
  EXPECT_TRUE(rejection);
  EXPECT_EQ(rejection.reason(), "it has 3 dimensions");
}

TEST(Rejection, IsThrownAsAnArgumentError) {
  const auto error = catch_error([] { Rejection("it is encrypted").raise("a.npz", "::", 7, ": "); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::kArgument);
  EXPECT_EQ(error->system_code(), 0);
  EXPECT_STREQ(error->what(), "a.npz::7: it is encrypted");
}

}  // namespace
}  // namespace plait::base
