/// The list of all file formats, and functions that find the format of a file by its name or content.
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

/// The name by which stores that begin with a .npy header, but have no file name, such as shared files, get their
/// format from format_named().
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
/// Splits a name at the first `::` that follows the name of a file whose format has names for its arrays. The suffix of
/// the file determines the format; if it does not, the content of an existing file. A name without such a `::` is that
/// of a file.
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
/// header: output; set to the first bytes of the store if this function reads them.
/// errors  kSystem.
const Format& detect_format(std::string_view name, store::Store& store, std::optional<FileHeader>& header);
const Format& detect_format(std::string_view name, store::Store& store);
/// Opens the file with this name and returns its format; if the file cannot be read, returns format_named(name).
/// cost  Opens the file.
const Format& format_at(std::string_view name);
/// Returns the format of a folder by the files in it, or of a URL by the objects below it; nullptr if it has none.
/// errors  kSystem.  kArgument: the URL is invalid.
const Format* find_folder_format(const std::string& folder);
/// Returns true if a file whose name states this format may be a zip file with folders, such as a zipped Zarr
/// hierarchy. Other files are not searched for a zip directory.
bool may_be_archive(const Format& named);

/// Returns true if a store begins with the signature of a format.  errors  kSystem.
bool store_has_signature(const Format& format, store::Store& store);
/// Returns the format whose signature a store has; nullptr if none.  A match may be a coincidence.  errors  kSystem.
const Format* find_format_by_content(store::Store& store);

}  // namespace plait::container
