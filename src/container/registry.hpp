/// All formats of files with arrays that there are.
#pragma once

#include <optional>
#include <span>
#include <string>
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

/// A name of an array in a file that holds several, taken apart: `FILE::NAME`, with the format in front or without:
/// `FORMAT:FILE::NAME`.
struct ArrayName {
  std::string_view file;
  std::optional<std::string_view> array;  ///< empty: the name is that of the file alone
  const Container* format = nullptr;      ///< the one that the name states in front, if it does
};
/// Takes a name apart at the first `::` behind a file whose ending, or content where it is there, is of a format that
/// names its arrays; all other names are the file's alone.
/// cost  Opens the file if its ending does not decide and a `::` follows.
ArrayName array_name(std::string_view name);

/// The format of a new file: the one that its name states, or the one of its ending, in letters of any case.
const Container& container_named(std::string_view path);
/// The format of the file that `store` reads: the one that its name states; else by its content, or that of its folder;
/// else by its ending.  Raw elements have no signature: a name of no format whose content is of none is theirs.
/// errors  kSystem.
const Container& container_of(std::string_view name, store::Store& store);
/// The same of a name; of one under which nothing can be read, as of a new file.  cost  Opens it.
const Container& container_at(std::string_view name);
/// Of a folder, by the files in it; none: nullptr.
const Container* container_in_folder(const std::string& folder);
/// Whether a store begins as files of a format do.  errors  kSystem.
bool begins_as(const Container& container, store::Store& store);
/// The one whose signature a store has; none: nullptr.  Bytes may stand there by chance.  errors  kSystem.
const Container* container_in(store::Store& store);

}  // namespace plait::container
