/// New objects in a folder that is renamed when they are complete.
#pragma once

#include <memory>

#include "store/objects/new_objects.hpp"

namespace plait::store::folder {

/// Makes new objects in a folder under a temporary name.  errors  Those of make_new_objects().
std::unique_ptr<NewObjects> make_new_folder(NewObjectsRequest request, const NewFileOptions& options);

}  // namespace plait::store::folder
