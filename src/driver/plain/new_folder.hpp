/// New folders that hold an array.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "container/folder_format.hpp"
#include "store/new_file.hpp"

namespace plait::driver::plain {

/// Begins a new array of a FolderFormat. Its location is the metadata file, which begins with the head of `options`;
/// the other files of the array are next to it.
/// errors  Those of FileDriver::create() and FolderFormat::new_folder().
std::unique_ptr<store::NewFile> make_new_folder(const container::FolderFormat& format, std::string_view path,
                                                std::optional<std::string_view> array,
                                                const store::NewFileOptions& options);

}  // namespace plait::driver::plain
