// Several arrays in one file: raw ones behind each other, and those of a new file under names.

#include <algorithm>
#include <utility>

#include "access/access.hpp"
#include "base/checked.hpp"
#include "base/errors.hpp"
#include "core/file/impl.hpp"
#include "plan/access/storage_unit.hpp"

namespace plait {

void core::conform(SelectedArray& array, const store::Store& store) {
  const store::Striping stripes = store.striping();
  array.options.storage_unit = stripes.unit == 0
                                   ? plan::kStorageUnit
                                   : plan::storage_unit(stripes.unit, stripes.disks, array.type.element_bytes);
}

namespace {

std::int64_t bytes_of(const ArrayType& type) {
  return base::checked_multiply(base::checked_product(type.shape, "elements of the array"), type.element_bytes,
                                "bytes of the array");
}

}  // namespace

void File::Impl::select(const ArrayType& wanted, std::int64_t offset, std::int64_t memory) {
  check_open();
  if (!array_.several)
    base::throw_argument_error(path_, ": one of several arrays was selected, but the file was not opened for several");
  if (wanted.element_bytes < 1 || offset < 0 || memory < 0)
    base::throw_argument_error(path_, ": found elements of ", wanted.element_bytes, " bytes, offset ", offset,
                               " and memory=", memory, "; elements have 1 byte or more, and the others are 0 or more");
  for (const std::int64_t extent : wanted.shape)
    if (extent < 0)
      base::throw_argument_error(path_, ": the shape ", shape_to_string(wanted.shape), " has a negative size");
  base::checked_add(offset, bytes_of(wanted), "bytes of the file");
  array_.type = wanted;
  if (channel() != nullptr) return;  // it has no offsets
  array_.data_offset = offset;
  core::conform(array_, *store_);
  array_.options.memory_bytes = memory == 0 ? array_.opening_memory : memory;
}

void File::Impl::set_members(std::vector<container::Member> members) {
  members_ = std::move(members);
  if (!members_.empty()) select_member(members_.front().name, std::nullopt);
}

void File::Impl::select_member(const std::string& name, const std::optional<ArrayType>& type) {
  const auto fail = [&](const auto&... why) {
    base::throw_argument_error(path_, ": the array \"", name, "\" ", why...);
  };
  const auto found = std::ranges::find(members_, name, &container::Member::name);
  if (found == members_.end())
    fail("is none of the ", members_.size(), " arrays that the file is opened for; the first one is \"",
         members_.front().name, '"');
  const container::Content& content = *found;
  if (type && (type->shape != content.type.shape || type->element_bytes != content.type.element_bytes))
    fail("was opened with the shape ", shape_to_string(content.type.shape), " and elements of ",
         content.type.element_bytes, " bytes, but ", shape_to_string(type->shape), " and ", type->element_bytes,
         " were given; leave them out or correct them");
  array_.type = content.type;
  array_.data_offset = content.data_offset;
  array_.chunk = content.chunk_shape();
  array_.packed = content.packed;
  attributes_ = content.attributes;
  core::conform(array_, *store_);
  steps_.variable = name;
}

bool File::Impl::needs_room(bool write) const {
  return write && array_.several && mode_ == Mode::kWrite && !store_->grows() &&
         array_.data_offset + bytes_of(array_.type) > store_->size();
}

void File::Impl::make_room(collective::Collective& call) {
  source_->resize(call, array_.data_offset + bytes_of(array_.type));
  store_ = source_->store();
  dataset_ = std::make_unique<container::Dataset>(dataset_->content(), store_);  // of raw elements
}

}  // namespace plait
