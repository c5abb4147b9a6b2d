/// Helpers of the tests of stores: files in a temporary folder, and the texts of errors.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "folder.hpp"
#include "plait/error.hpp"
#include "store/store.hpp"

namespace store_case {

using Bytes = std::vector<std::byte>;

inline Bytes to_bytes(const std::string& text) {
  Bytes result(text.size());
  std::memcpy(result.data(), text.data(), text.size());
  return result;
}

/// A temporary folder for each test.
class StoreInFolder : public plait_test::FolderTest {
 protected:
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Returns the names of all files in the folder.
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder_))
      result.insert(entry.path().filename());
    return result;
  }
};

/// Runs a call that must fail with a system error, and returns the text and errno of the error.
template <typename Call>
std::pair<std::string, int> failure(Call&& call) {
  try {
    call();
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kSystem);
    return {error.what(), error.system_code()};
  }
  ADD_FAILURE() << "no error";
  return {};
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << "the message is: " << (text)

/// Reads and writes several segments at once, in any order of offsets.
inline void check_segments(plait::store::Store& store) {
  Bytes first = to_bytes("abcd");
  Bytes second = to_bytes("EF");
  store.write({{6, second.data(), 2}, {0, first.data(), 4}, {3, nullptr, 0}});
  Bytes read(5);
  store.read({{5, read.data(), 3}, {1, read.data() + 3, 2}, {8, nullptr, 0}});
  EXPECT_EQ(read[1], std::byte{'E'});
  EXPECT_EQ(read[2], std::byte{'F'});
  EXPECT_EQ(read[3], std::byte{'b'});
  EXPECT_EQ(read[4], std::byte{'c'});
  const auto pending = store.submit_read({{0, read.data(), 2}});
  pending->complete();
  EXPECT_EQ(read[0], std::byte{'a'});
}

}  // namespace store_case
