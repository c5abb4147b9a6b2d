#include "container/npy/npy_dataset.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/npy/npy_header.hpp"

namespace plait::container::npy {

namespace {

constexpr std::string_view kNestedSignature = "\x93NUMPY";  // the first bytes of an array saved by numpy.save()

/// Returns the dimension along which neighbouring elements are farthest apart in the file.
std::size_t slowest_dimension(const ArrayType& type) { return type.order == Order::kC ? 0 : type.shape.size() - 1; }

/// Returns the offset of the end of the array in the file if it has this shape.
std::int64_t array_end(const Content& content, const Extents& shape) {
  const auto bytes = array_bytes(shape, content.type.element_bytes);
  if (!bytes) base::throw_argument_error("an array of shape ", shape_to_string(shape), " has more than 2^63 - 1 bytes");
  return content.data_offset + *bytes;
}

/// Checks that no other array follows, as after several calls of numpy.save() with one file.
/// errors  kArgument: another array follows.
void check_no_array_follows(store::Store& store, std::int64_t end, const std::string& name) {
  std::vector<std::byte> after(kNestedSignature.size());
  const auto bytes = static_cast<std::int64_t>(after.size());
  if (store.size() - end < bytes) return;
  store.read({{end, after.data(), bytes}});
  if (std::memcmp(after.data(), kNestedSignature.data(), after.size()) == 0)
    base::throw_argument_error(name, " cannot grow: another array follows at byte ", end,
                               ", which would be overwritten; save each array in a file of its own");
}

}  // namespace

NpyDataset::NpyDataset(Content content, std::shared_ptr<store::Store> store, std::string name)
    : Dataset(std::move(content), std::move(store)), name_(std::move(name)) {}

void NpyDataset::begin() {
  const ArrayType& type = content().type;
  if (type.shape.empty())
    base::throw_argument_error(name_, " cannot grow: it has no dimensions; write an array of one dimension or more");
  header_shape_ = std::make_shared<HeaderShape>(HeaderShape{store::posix::ExtendedFile(*store(), name_), type.shape});
  if (read_header(*store(), name_).shape != type.shape)
    base::throw_system_error(EBUSY, name_, " has been changed by another program while it was opened; open it again");
  check_no_array_follows(*store(), array_end(content(), type.shape), name_);
}

void NpyDataset::check_shape(const Extents& shape) const {
  const ArrayType& type = content().type;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != slowest_dimension(type) && shape[d] != type.shape[d])
      base::throw_argument_error(name_, " cannot get the shape ", shape_to_string(shape), " instead of ",
                                 shape_to_string(type.shape), ": the array in a .npy file grows along dimension ",
                                 slowest_dimension(type),
                                 " only, the slowest one; copy it into a Zarr array for other shapes");
}

void NpyDataset::clear_outside() { header_shape_->file.resize(array_end(content(), content().type.shape)); }

void NpyDataset::reduce(const Extents& shape) {
  check_shape(shape);
  // The header may state a smaller shape than content(), whose last rows may not be committed yet.
  Extents smaller = header_shape_->shape;
  const std::size_t slowest = slowest_dimension(content().type);
  smaller[slowest] = std::min(smaller[slowest], shape[slowest]);
  write_shape(smaller);
  header_shape_->file.resize(array_end(content(), shape));
}

std::unique_ptr<Dataset> NpyDataset::with_shape(const Extents& shape) {
  check_shape(shape);
  const std::int64_t end = array_end(content(), shape);
  if (header_shape_) {
    // Check now that the header can state the shape, so that an error comes before any element is written.
    (void)resized_header(*store(), name_, shape);
    if (store()->size() < end) header_shape_->file.resize(end);
  }
  Content changed = content();
  changed.type.shape = shape;
  auto reshaped = std::make_unique<NpyDataset>(std::move(changed), store(), name_);
  reshaped->header_shape_ = header_shape_;
  reshaped->is_changed_ = true;
  return reshaped;
}

void NpyDataset::write_shape(const Extents& shape) {
  if (shape == header_shape_->shape) return;
  if (const Extents present = read_header(*store(), name_).shape; present != header_shape_->shape)
    base::throw_system_error(EBUSY, name_, " had the shape ", shape_to_string(header_shape_->shape), ", and now has ",
                             shape_to_string(present),
                             ", because another program has changed it; open it again, and append again");
  const std::vector<std::byte> header = resized_header(*store(), name_, shape);
  store()->write({{0, header.data(), static_cast<std::int64_t>(header.size())}});
  header_shape_->shape = shape;
}

void NpyDataset::commit() {
  if (header_shape_) write_shape(content().type.shape);
}

}  // namespace plait::container::npy
