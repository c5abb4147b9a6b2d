#include "container/zarr/hierarchy/array_description.hpp"

#include <utility>

#include "container/zarr/zarr_attributes.hpp"

namespace plait::container::zarr {

Content found_in(const Metadata& metadata) {
  Content found(metadata.type, 0);
  found.chunk = metadata.chunk;
  if (metadata.shards) found.shard = metadata.shards->shape;
  found.dimension_names = metadata.dimension_names;
  found.whole_chunks = !metadata.plain();
  found.fill = metadata.fill;
  return found;
}

std::vector<std::string> describe_attributes(Content& found, const StoredMetadata& array) {
  ArrayAttributes attributes = attributes_in(array.text, array.objects, array.object);
  std::vector<std::string> references = dimension_references(array, attributes, found.type.shape.size());
  name_dimensions(found, references);
  remove_nczarr_attributes(attributes);
  take_attributes(found, std::move(attributes), array.text, array.objects.object_location(array.object));
  return references;
}

}  // namespace plait::container::zarr
