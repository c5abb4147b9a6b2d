/// The HDF5 library, which is loaded when the first file needs it (docs/decisions/0045-hdf5.md).
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "container/hdf5/functions.hpp"

namespace plait::container::hdf5 {

/// Exclusive access to the library: while an object exists, other threads wait in the constructor. The library prints
/// no
/// errors during that time.
class Library {
 public:
  /// Waits for other users of the library, and loads it on the first call.
  /// errors  kSystem: there is no library, or it is too old. The message lists the names that were tried.
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Functions* operator->() const { return functions_; }
  /// Returns true if the library is version `major`.`minor`.`release` or a later one.
  bool is_at_least(unsigned major, unsigned minor, unsigned release) const;
  /// Describes the library, as in "HDF5 2.0.0 (/usr/lib/libhdf5.so)".
  std::string describe() const;
  /// Returns the library's message about the call that failed last, as in ` (unable to open file)`; empty if it has
  /// none.
  std::string last_error() const;
  /// The location of an object.
  struct Location {
    unsigned long file;  ///< number of the file, which is the same for all objects of a file while it is open
    haddr_t address;     ///< address in the file
    auto operator<=>(const Location&) const = default;
  };
  /// Returns the location of an open object; empty if the library fails.
  std::optional<Location> location(hid_t object) const;
  /// Returns the address of an open object in its file; empty if the library fails.
  std::optional<haddr_t> address(hid_t object) const;
  /// Makes the library search for filters in the folder of plug-ins that LibraryHooks::plugins names.
  void add_plugins() const;
  /// Returns true if the library, or a plug-in, has a filter.
  bool has_filter(unsigned id) const;

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  const Functions* functions_ = nullptr;
  H5E_auto2_t printer_ = nullptr;  ///< the function that prints errors, which the destructor sets again
  void* printer_data_ = nullptr;
};

/// An identifier of the library, which the destructor closes. It is invalid, and converts to false, if it is negative,
/// as the library returns it after a failure. The Library must outlive it.
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
  /// Closes the identifier now. Returns a negative value if that fails.
  herr_t close_now() { return id_ < 0 ? 0 : close_(std::exchange(id_, -1)); }
  explicit operator bool() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Reads a text of any length. get(buffer, size): calls a function of the library that fills a buffer and returns the
/// length of the text. Returns an empty text if the library fails.
template <typename Get>
std::string read_text(const Get& get) {
  const auto length = get(nullptr, std::size_t{0});
  if (length <= 0) return {};
  std::string result(static_cast<std::size_t>(length) + 1, '\0');
  if (get(result.data(), result.size()) < 0) return {};
  result.resize(static_cast<std::size_t>(length));
  return result;
}

}  // namespace plait::container::hdf5
