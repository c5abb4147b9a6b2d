#include "core/file/selected_array.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "plan/access/storage_unit.hpp"

namespace plait::core {

namespace {

std::int64_t total_bytes(const ArrayType& type) {
  return base::checked_multiply(base::checked_product(type.shape, "elements of the array"), type.element_bytes,
                                "bytes of the array");
}

/// Makes shares multiples of the unit that the store's stripes and the elements imply.
void set_storage_unit(SelectedArray& array, const store::Store& store) {
  const store::Striping stripes = store.striping();
  array.options.storage_unit = stripes.unit == 0
                                   ? plan::kStorageUnit
                                   : plan::storage_unit(stripes.unit, stripes.disks, array.type.element_bytes);
}

}  // namespace

std::int64_t ArraySelection::end_offset() const { return array_.data_offset + total_bytes(array_.type); }

void ArraySelection::set_array(SelectedArray array, const store::Store& store) {
  array_ = std::move(array);
  set_storage_unit(array_, store);
}

void ArraySelection::set_type(const ArrayType& type, bool several) {
  array_.type = type;
  array_.several = several;
}

void ArraySelection::select(const ArrayType& type, std::int64_t offset, std::int64_t memory,
                            const store::Store* store) {
  const auto reject = [this](const std::string& problem) { base::throw_argument_error(path_ + ": " + problem); };
  if (!array_.several) reject("one of several arrays was selected, but the file was not opened for several");
  if (type.element_bytes < 1 || offset < 0 || memory < 0)
    reject(base::text("found elements of ", type.element_bytes, " bytes, offset ", offset, " and memory=", memory,
                      "; elements have 1 byte or more, and the others are 0 or more"));
  for (const std::int64_t extent : type.shape)
    if (extent < 0) reject(base::text("the shape ", shape_to_string(type.shape), " has a negative size"));
  base::checked_add(offset, total_bytes(type), "bytes of the file");
  array_.type = type;
  if (store == nullptr) return;
  array_.data_offset = offset;
  set_storage_unit(array_, *store);
  array_.options.memory_bytes = memory == 0 ? array_.opening_memory : memory;
}

const container::Content& ArraySelection::select_member(const std::string& name, const std::optional<ArrayType>& type,
                                                        const store::Store& store) {
  const auto reject = [&](const auto&... problem) {
    base::throw_argument_error(path_, ": the array \"", name, "\" ", problem...);
  };
  const auto found = name.empty() ? members_.begin() : std::ranges::find(members_, name, &container::Member::name);
  if (found == members_.end())
    reject("is none of the ", members_.size(), " arrays that the file is opened for; the first one is \"",
           members_.front().name, '"');
  const container::Content& content = *found;
  if (type && (type->shape != content.type.shape || type->element_bytes != content.type.element_bytes))
    reject("was opened with the shape ", shape_to_string(content.type.shape), " and elements of ",
           content.type.element_bytes, " bytes, but ", shape_to_string(type->shape), " and ", type->element_bytes,
           " were given; leave them out or correct them");
  array_.type = content.type;
  array_.data_offset = content.data_offset;
  array_.chunk = content.chunk_shape();
  array_.whole_chunks = content.whole_chunks;
  set_storage_unit(array_, store);
  variable_ = content.name;
  return content;
}

void ArraySelection::select_variable(const std::string& name, const ArrayType& type) {
  array_.type = type;
  variable_ = name;
}

}  // namespace plait::core
