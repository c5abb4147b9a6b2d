#include "container/zarr/hierarchy/array_description.hpp"

#include <utility>

#include "container/zarr/zarr_attributes.hpp"

namespace plait::container::zarr {

Content make_content(const Metadata& metadata) {
  Content content(metadata.type, 0);
  content.chunk = metadata.chunk;
  if (metadata.shards) content.shard = metadata.shards->shape;
  content.dimension_names = metadata.dimension_names;
  content.whole_chunks = !metadata.has_no_codecs();
  content.fill = metadata.fill;
  return content;
}

std::vector<std::string> add_attributes(Content& content, const StoredMetadata& array) {
  ArrayAttributes attributes = read_attributes(array.text, array.objects, array.object);
  std::vector<std::string> references = read_dimension_references(array, attributes, content.type.shape.size());
  name_dimensions(content, references);
  remove_nczarr_attributes(attributes);
  apply_attributes(content, std::move(attributes), array.text, array.objects.object_location(array.object));
  return references;
}

}  // namespace plait::container::zarr
