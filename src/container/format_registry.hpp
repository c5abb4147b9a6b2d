/// The list of all file formats with arrays.
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

/// A name with this suffix stands for the format of stores that describe their content by a .npy header.
inline constexpr std::string_view kHeaderName = ".npy";

/// Returns the formats in the order in which they are tried. The last one accepts any file.
std::span<const Format* const> formats();

/// Adds a format while the object exists. It is tried before all others. For tests.
/// threads  Only while no thread opens a file.
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
/// exists, by its content. Any other name is that of a file.
/// cost  Opens the file if a `::` follows and its suffix does not determine the format.
ArrayName array_name(std::string_view name);

/// The first bytes of a store, read once.
class FileHeader {
 public:
  /// errors  kSystem.
  explicit FileHeader(store::Store& store);
  /// Returns kHeaderBytes bytes, or the whole store if it is shorter.
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(length_); }

 private:
  std::array<std::byte, kHeaderBytes> bytes_;
  std::size_t length_ = 0;
};

/// Returns the format of a new file: by the prefix of its name, otherwise by its suffix, ignoring case.
const Format& format_named(std::string_view path);
/// Returns the format of the file that `store` reads: by the prefix of its name; otherwise by its content, or that of
/// its folder; otherwise by its suffix. If none of these identifies a format, the file holds raw elements.
/// header: becomes the first bytes of the store, if they have been read.
/// errors  kSystem.
const Format& detect_format(std::string_view name, store::Store& store, std::optional<FileHeader>& header);
const Format& detect_format(std::string_view name, store::Store& store);
/// Returns the format of an existing file by its name; if the file cannot be read, as for a new file.
/// cost  Opens the file.
const Format& format_at(std::string_view name);
/// Returns the format of a folder by the files in it, or of a URL by the objects below it; nullptr if it has none.
/// errors  kSystem.  kArgument: the URL is invalid.
const Format* find_folder_format(const std::string& folder);
/// Returns true if a file whose name states this format may be a zip file with folders. Only such files are examined
/// for that.
bool may_be_archive(const Format& named);

/// Returns true if the first bytes of a store have the signature of a format.  errors  kSystem.
bool begins_as(const Format& format, store::Store& store);
/// Returns the format whose signature a store has; nullptr if none.  A match may be a coincidence.  errors  kSystem.
const Format* find_format_by_content(store::Store& store);

}  // namespace plait::container
