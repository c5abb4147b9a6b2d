/// Formats whose files hold several arrays, each under a name.
#pragma once

#include <string>
#include <vector>

#include "container/container.hpp"

namespace plait::container {

/// The one that a name, `FILE::NAME` or `FILE`, stands for.
/// errors  kArgument: there is none of that name, or several where none is named, and which there are; one that cannot
///         be opened, and why.
const Member& chosen(const std::vector<Member>& members, const std::string& path);

/// The array that `path` names in a new file, or `unnamed`.  errors  kArgument: an empty name, or none that is UTF-8.
std::string name_of_new(const std::string& path, const std::string& unnamed);

/// What is to be in a new file: the arrays of `options`, or the one that they and `path` describe.
/// errors  kArgument: arrays that cannot be, or two of one name.
std::vector<Member> members_of_new(const std::string& path, const FileOptions& options, const std::string& unnamed);

/// A format of such files: the arrays that list() gives are opened by their names.
class NamingContainer : public Container {
 public:
  bool tells() const final { return true; }
  bool names_arrays() const final { return true; }
  std::vector<Member> list_named(store::Store& store, const std::string& path) const override;
  Content inspect(store::Store& store, const std::string& path, const FileOptions& options) const override;
};

}  // namespace plait::container
