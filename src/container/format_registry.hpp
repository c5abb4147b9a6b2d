/// All formats of files with arrays that there are.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/store.hpp"

namespace plait::container {

/// A name of the format that stores use which say what they hold by a header.
inline constexpr std::string_view kHeaderName = ".npy";

/// In the order in which they are asked; the last one takes everything.
std::span<const Format* const> formats();

/// Has one more of them, asked before all others, while it lives: for formats that are tried out.
/// threads  While none opens a file.
class AddedFormat {
 public:
  explicit AddedFormat(const Format& format);
  ~AddedFormat();
  AddedFormat(const AddedFormat&) = delete;
  AddedFormat& operator=(const AddedFormat&) = delete;
};

/// The parts of `FILE::NAME`, the name of an array in a file that holds several, optionally with a format prefix:
/// `FORMAT:FILE::NAME`.
struct ArrayName {
  std::string_view file;
  std::optional<std::string_view> array;  ///< empty if the name is only that of a file
  const Format* format = nullptr;         ///< the format that the prefix states, if there is one
};
/// Splits a name at the first `::` after a file whose format names its arrays, by the suffix of the file or, if it
/// exists, by its content; any other name is that of a file.
/// cost  Opens the file if a `::` follows and its suffix does not determine the format.
ArrayName array_name(std::string_view name);

/// Returns the format of a new file: by the prefix of its name, else by its suffix, in letters of any case.
const Format& format_named(std::string_view path);
/// Returns the format of the file that `store` reads: by the prefix of its name; else by its content, or that of its
/// folder; else by its suffix.  If none of these identifies a format, the file holds raw elements.
/// errors  kSystem.
const Format& format_of(std::string_view name, store::Store& store);
/// Returns the format of an existing file by its name; if it cannot be read, as for a new file.  cost  Opens it.
const Format& format_at(std::string_view name);
/// Returns the format of a folder by the files in it, or of a URL by the objects below it; nullptr if it has none.
/// errors  kSystem; kArgument: a URL that cannot be.
const Format* format_of_folder(const std::string& folder);
/// The first bytes of a store, read once.
class FileHeader {
 public:
  /// errors  kSystem.
  explicit FileHeader(store::Store& store);
  /// As many as Format::begins() takes, or all that there are.
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(length_); }

 private:
  std::array<std::byte, kHeaderBytes> bytes_{};
  std::size_t length_ = 0;
};

/// Whether a store begins as files of a format do.  errors  kSystem.
bool begins_as(const Format& format, store::Store& store);
/// Returns the format whose signature a store has; nullptr if none.  A match may be a coincidence.  errors  kSystem.
const Format* format_of_content(store::Store& store);

}  // namespace plait::container
