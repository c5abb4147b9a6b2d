/// New folders that hold an array.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "container/folder_format.hpp"
#include "store/new_file.hpp"

namespace plait::driver::plain {

/// Begins a new array of a format of folders.  Its location is the file that describes the content, which begins with
/// the head of `options`; whatever else belongs to the array lies beside it.
/// errors  As FileDriver::create() and FolderFormat::new_folder().
std::unique_ptr<store::NewFile> make_new_folder(const container::FolderFormat& format, std::string_view path,
                                                std::optional<std::string_view> array,
                                                const store::NewFileOptions& options);

}  // namespace plait::driver::plain
