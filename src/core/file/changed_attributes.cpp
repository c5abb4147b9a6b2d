// Attributes of an array that is there.

#include <algorithm>
#include <cstdint>

#include "base/errors.hpp"
#include "base/random_bits.hpp"
#include "collective/collective.hpp"
#include "container/attributes.hpp"
#include "core/comm/guard.hpp"
#include "core/file/impl.hpp"

namespace plait {

namespace {

/// A number that differs for other values, so that ranks find out.
std::uint64_t sum_of(const ArrayAttribute& value) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t one) { sum = base::mixed(sum + base::kRandomStep + one); };
  for (const std::int64_t extent : value.shape) add(static_cast<std::uint64_t>(extent));
  for (const std::byte one : value.values) add(std::to_integer<std::uint64_t>(one));
  for (const std::string& text : value.texts) {
    add(text.size());
    for (const char letter : text) add(static_cast<unsigned char>(letter));
  }
  return sum;
}

}  // namespace

void File::Impl::check_attribute(const std::string& name, const ArrayAttribute* value) const {
  if (value != nullptr) container::check_attributes({*value}, path_);
  base::Rejection rejection;
  if (value != nullptr) rejection = format_->attribute_rejection(path_, *value, false);
  if (!rejection && dataset_->attribute_writer() == nullptr)
    rejection =
        base::Rejection("attributes of files of this format do not change in place; copy the array to a new file");
  if (rejection) rejection.raise(path_, ": the attribute \"", name, "\" cannot be changed: ");
}

void File::Impl::change_attribute(const std::string& name, const std::optional<ArrayAttribute>& value) {
  check_open();
  const auto words = [&] {
    if (!value) return base::text("remove_attribute(\"", name, "\") of ", this->name());
    return base::text("set_attribute(\"", name, "\", ", value->dtype, " of shape ", shape_to_string(value->shape),
                      ", values of sum ", sum_of(*value), ") of ", this->name());
  };
  const auto known = std::ranges::find(attributes_, name, &ArrayAttribute::name);
  const auto check = [&] {
    if (mode_ == Mode::kRead)
      base::throw_argument_error(path_, " is open for reading; open it with mode \"r+\" to change attributes");
    if (mode_ == Mode::kWrite || !dataset_)
      base::throw_argument_error(path_, mode_ == Mode::kWrite
                                            ? ": attributes of a new file are given when it is opened; pass them there"
                                            : ": stores of this kind have no attributes");
    if (!value && known == attributes_.end())
      base::throw_argument_error(path_, " has no attribute \"", name, "\" that could be removed");
    check_attribute(name, value ? &*value : nullptr);
  };
  with_transport([&](transport::Transport& transport) { const collective::Collective call(transport, words, check); });
  if (!value)
    attributes_.erase(known);
  else if (known != attributes_.end())
    *known = *value;
  else
    attributes_.push_back(*value);
  changes_.insert_or_assign(name, value);
}

void File::set_attribute(const ArrayAttribute& attribute) {
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { impl_->change_attribute(attribute.name, attribute); }); });
}

void File::remove_attribute(const std::string& name) {
  core::guarded(impl_->comm(), [&] { impl_->turn().run([&] { impl_->change_attribute(name, std::nullopt); }); });
}

}  // namespace plait
