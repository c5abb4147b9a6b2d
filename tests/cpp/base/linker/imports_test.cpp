// redirect_imports(): calls of a function in another object run the replacement.
#include "base/linker/imports.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

int counted_calls = 0;

extern "C" pid_t counting_getppid() {
  ++counted_calls;
  return 7;
}

TEST(Imports, CallsOfLoadedObjectsAreRedirected) {
  const pid_t parent = ::getppid();
  ASSERT_NE(parent, 7);
  using Function = pid_t (*)();
  const auto original = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, "getppid"));
  ASSERT_NE(original, nullptr);
  const auto system_function = reinterpret_cast<void (*)()>(original);
  const auto counting = reinterpret_cast<void (*)()>(counting_getppid);
  ASSERT_GE(plait::base::redirect_imports("getppid", system_function, counting), 1);
  EXPECT_EQ(::getppid(), 7);
  EXPECT_EQ(counted_calls, 1);
  EXPECT_EQ(original(), parent);  // an address from dlsym() is not redirected
  EXPECT_GE(plait::base::redirect_imports("getppid", counting, system_function), 1);
  EXPECT_EQ(::getppid(), parent);
  EXPECT_EQ(counted_calls, 1);
}

TEST(Imports, NothingIsReplacedForAFunctionThatNoObjectCalls) {
  EXPECT_EQ(plait::base::redirect_imports("no_function_of_this_name", nullptr, nullptr), 0);
}

TEST(Imports, LoadedObjectsAreCounted) { EXPECT_GT(plait::base::loaded_objects(), 0U); }

}  // namespace
