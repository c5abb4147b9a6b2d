/// All formats of files with arrays that there are.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "container/container.hpp"
#include "store/store.hpp"

namespace plait::container {

/// A name of the container that stores use which say what they hold by a header.
inline constexpr std::string_view kHeaderName = ".npy";

/// In the order in which they are asked; the last one takes everything.
std::span<const Container* const> containers();

/// Has one more of them, asked before all others, while it lives: for formats that are tried out.
/// threads  While none opens a file.
class AddedContainer {
 public:
  explicit AddedContainer(const Container& container);
  ~AddedContainer();
  AddedContainer(const AddedContainer&) = delete;
  AddedContainer& operator=(const AddedContainer&) = delete;
};

/// A name of an array in a file that holds several, taken apart: `FILE::NAME`.
struct ArrayName {
  std::string_view file;
  std::optional<std::string_view> array;  ///< empty: the name is that of the file alone
};
/// Takes a name apart at the first `::` behind the suffix of a format that names its arrays; all other names, and those
/// that say what is no such file, are the file's alone.
ArrayName array_name(std::string_view name);

/// Of a name, with that of an array behind it or without.
const Container& container_named(std::string_view path);
/// The one whose suffix a name has in other letters, such as `.NPY`; none: nullptr.
const Container* container_misspelled(std::string_view path);
/// Whether a store begins as files of a format do.  errors  kSystem.
bool begins_as(const Container& container, store::Store& store);
/// The one that a store begins as; none: nullptr.  Bytes may stand there by chance.  errors  kSystem.
const Container* container_in(store::Store& store);

}  // namespace plait::container
