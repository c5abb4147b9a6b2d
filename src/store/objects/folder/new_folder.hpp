/// New objects in a folder that is renamed when they are complete.
#pragma once

#include <memory>

#include "store/objects/new_objects.hpp"

namespace plait::store::folder {

/// errors  As make_new_objects().
std::unique_ptr<NewObjects> make_new_folder(NewObjectsRequest request, const NewFileOptions& options);

}  // namespace plait::store::folder
