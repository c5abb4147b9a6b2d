#include "core/file/attribute_edits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/errors.hpp"
#include "base/random_bits.hpp"
#include "base/text.hpp"
#include "collective/collective.hpp"
#include "container/attributes.hpp"

namespace plait::core {

namespace {

/// Returns a hash by which ranks detect that their values differ.
std::uint64_t compute_hash(const ArrayAttribute& value) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t number) { hash = base::mix(hash + base::kRandomIncrement + number); };
  for (const std::int64_t extent : value.shape) add(static_cast<std::uint64_t>(extent));
  for (const std::byte byte : value.values) add(std::to_integer<std::uint64_t>(byte));
  for (const std::string& text : value.texts) {
    add(text.size());
    for (const char letter : text) add(static_cast<unsigned char>(letter));
  }
  return hash;
}

}  // namespace

void AttributeEdits::begin(const container::Format& format, const ArrayAttributes& attributes) {
  format_ = &format;
  attributes_ = attributes;
}

std::string AttributeEdits::describe(const std::string& name, const std::optional<ArrayAttribute>& value) const {
  if (!value) return base::text("remove_attribute(\"", name, "\") of ", context_.name());
  return base::text("set_attribute(\"", name, "\", ", value->dtype, " of shape ", shape_to_string(value->shape),
                    ", values of sum ", compute_hash(*value), ") of ", context_.name());
}

void AttributeEdits::check(const std::string& name, const ArrayAttribute* value) const {
  const std::string& path = context_.path();
  if (context_.mode() == Mode::kRead)
    base::throw_argument_error(path, " is open for reading; open it with mode \"r+\" to change attributes");
  if (context_.mode() == Mode::kWrite)
    base::throw_argument_error(path, ": attributes of a new file are given when it is opened; pass them there");
  if (!storage_.has_dataset()) base::throw_argument_error(path, ": stores of this kind have no attributes");
  if (value == nullptr && std::ranges::find(attributes_, name, &ArrayAttribute::name) == attributes_.end())
    base::throw_argument_error(path, " has no attribute \"", name, "\" that could be removed");
  if (value != nullptr) container::check_attributes({*value}, path);
  base::Rejection rejection;
  if (value != nullptr) rejection = format_->attribute_rejection(path, *value, /*of_group=*/false);
  if (!rejection && storage_.attribute_writer() == nullptr)
    rejection =
        base::Rejection("attributes of files of this format do not change in place; copy the array to a new file");
  if (rejection) rejection.raise(path, ": the attribute \"", name, "\" cannot be changed: ");
}

void AttributeEdits::edit(const std::string& name, const std::optional<ArrayAttribute>& value) {
  storage_.check_open();
  context_.with_transport([&](transport::Transport& transport) {
    const collective::Collective call(
        transport, [&] { return describe(name, value); }, [&] { check(name, value ? &*value : nullptr); });
  });
  const auto existing = std::ranges::find(attributes_, name, &ArrayAttribute::name);
  if (!value)
    attributes_.erase(existing);
  else if (existing != attributes_.end())
    *existing = *value;
  else
    attributes_.push_back(*value);
  changes_.insert_or_assign(name, value);
}

void AttributeEdits::prepare() const {
  call_writer(/*committed=*/false, [](container::AttributeWriter& writer) { writer.prepare(); });
}

void AttributeEdits::write() const {
  call_writer(/*committed=*/true, [this](container::AttributeWriter& writer) { writer.write(changes_); });
}

void AttributeEdits::call_writer(bool committed, base::FunctionRef<void(container::AttributeWriter&)> body) const {
  if (changes_.empty()) return;
  try {
    body(*storage_.attribute_writer());
  } catch (const Error& error) {
    // If another file has the name now, the elements are in the former file.
    if (!storage_.is_written() || error.system_code() == ESTALE) throw;
    const bool are_lost = storage_.deferred_changes() != nullptr && !committed;
    base::rethrow(
        error, error.what(),
        are_lost ? "; nothing that was written is in the file" : "; the elements that were written are in the file");
  }
}

}  // namespace plait::core
