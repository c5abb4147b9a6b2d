/// HDF5's library, loaded when the first file needs it (docs/decisions/0045-hdf5.md).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "container/hdf5/functions.hpp"

namespace plait::container::hdf5 {

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
  /// The address of an open object in its file; empty if the library fails.
  std::optional<haddr_t> address(hid_t object) const;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  const Functions* functions_ = nullptr;
  H5E_auto2_t printer_ = nullptr;
  void* printer_data_ = nullptr;
};

/// An identifier that is closed at the end; the Library must outlive it.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
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
  herr_t close_now() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }
  explicit operator bool() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace plait::container::hdf5
