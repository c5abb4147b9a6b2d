// Helpers of the tests of striped files: a temporary folder with subfolders that stand for disks.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "driver/driver_registry.hpp"
#include "folder.hpp"
#include "plait/error.hpp"
#include "store/new_file.hpp"
#include "store/stripe/stripe_description.hpp"

namespace stripe_case {

namespace fs = std::filesystem;
namespace store = plait::store;
namespace stripe = plait::store::stripe;
using plait::Error;
using plait::ErrorKind;
using plait::base::text;
using stripe::Description;
using Bytes = std::vector<std::byte>;

/// Returns the driver of a name. It must be a FileDriver, whose files a single process can open or make.
inline const plait::driver::FileDriver& find_driver(const std::string& name) {
  return dynamic_cast<const plait::driver::FileDriver&>(plait::driver::find_driver(name));
}
inline store::OpenLocation find(const std::string& name, bool writable) {
  return find_driver(name).find(name, writable);
}
inline std::unique_ptr<store::NewFile> make_new(const std::string& name, std::int64_t bytes) {
  return find_driver(name).create(name, {bytes, {}, false});
}
/// Opens the store of a location that find() or a new file has returned.
inline std::unique_ptr<store::Store> reopen(const store::Location& location, bool writable) {
  return find_driver(location.details.empty() ? "" : "stripe:").open(location, writable);
}

/// A temporary folder with five disks for each test.
class Stripes : public plait_test::FolderTest {
 protected:
  Stripes() {
    for (int i = 0; i < 5; ++i) fs::create_directory(disk(i));
  }
  std::string disk(int i) const { return path(text("d", i)); }
  /// Returns the name of an existing striped file.
  std::string named(const std::string& name) const { return text("stripe:", path(name)); }
  /// Returns `stripe:NAME?disks=...&unit=...`.
  std::string url(const std::string& name, int disks, const std::string& unit) const {
    std::string list;
    for (int i = 0; i < disks; ++i) list += text(i == 0 ? "" : ",", disk(i));
    return text(named(name), "?disks=", list, "&unit=", unit);
  }
  std::string content(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  /// Returns all files, in the folder and on the disks.
  std::set<std::string> files() const {
    std::set<std::string> result;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_))
      if (!entry.is_directory()) result.insert(fs::relative(entry.path(), folder_).string());
    return result;
  }
  /// Makes a complete striped file of zeros.
  Description make(const std::string& name, int disks, const std::string& unit, std::int64_t bytes) const {
    make_new(url(name, disks, unit), bytes)->commit();
    return stripe::read_description(path(name), name);
  }
};

/// A byte whose value depends on its position.
inline std::byte byte_at(std::int64_t position) {
  return static_cast<std::byte>((position * 31 + position / 251) % 256);
}

/// Runs a call that must fail, and returns its error.
template <typename Call>
Error failure(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::kSystem, "no error"};
}

#define EXPECT_SAYS(error, part) \
  EXPECT_NE(std::string((error).what()).find(part), std::string::npos) << "the message is: " << (error).what()

}  // namespace stripe_case
