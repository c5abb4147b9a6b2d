/// HDF5's library, loaded when the first file needs it (docs/decisions/0045-hdf5.md).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "container/hdf5/functions.hpp"

namespace plait::container::hdf5 {

/// What surrounds Plait where it is a part of something that may use the library as well.
struct Surroundings {
  /// The path of the library to load; empty: the system's.
  std::function<std::string()> library = [] { return std::string(); };
  /// Called around each use: no thread of the library's other users may be in it meanwhile.
  std::function<void()> enter = [] {};
  std::function<void()> leave = [] {};
};
/// threads  Before the first file is opened.
void set_surroundings(Surroundings surroundings);

/// The right to call the library, which stands one thread at a time.  What it prints on errors is left out meanwhile.
class Library {
 public:
  /// errors  kSystem: there is no library, or one that is too old; says which ones were looked for.
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Functions* operator->() const { return functions_; }
  /// Whether this is version `major`.`minor`.`release` or a later one.
  bool at_least(unsigned major, unsigned minor, unsigned release) const;
  /// What it is, as in "HDF5 2.0.0 (/usr/lib/libhdf5.so)".
  std::string words() const;
  /// The library's own words on the call that has failed last, in parentheses; empty where it has none.
  std::string why() const;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  const Functions* functions_ = nullptr;
  void* printer_ = nullptr;
  void* printer_data_ = nullptr;
};

/// An identifier that is closed at the end; the Library must outlive it.
class Handle {
 public:
  Handle() = default;
  Handle(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  /// Closes it now.  Below 0: that has failed.
  int close_now() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }
  explicit operator bool() const { return id_ >= 0; }
  Id id() const { return id_; }

 private:
  Id id_ = -1;
  int (*close_)(Id) = nullptr;
};

}  // namespace plait::container::hdf5
