#include "mpiio/type_contents.hpp"

#include "mpiio/datatype.hpp"

namespace plait::mpiio {

namespace {

#if MPI_VERSION >= 4
using Number = MPI_Count;
#else
using Number = int;
#endif

}  // namespace

std::optional<Envelope> read_envelope(MPI_Datatype type) {
  Number integers = 0;
  Number addresses = 0;
  Number counts = 0;
  Number types = 0;
  int combiner = 0;
#if MPI_VERSION >= 4
  const int code = PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner);
#else
  const int code = PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
  if (code != MPI_SUCCESS) return std::nullopt;
  const auto size = [](Number number) { return static_cast<std::size_t>(number); };
  return Envelope{combiner, size(integers), size(addresses), size(counts), size(types)};
}

Contents::Contents(MPI_Datatype type) {
  const std::optional<Envelope> envelope = read_envelope(type);
  if (!envelope) return;
  envelope_ = *envelope;
  known_ = envelope_.is_predefined() || read(type) == MPI_SUCCESS;
  if (!known_) types_.clear();
}

int Contents::read(MPI_Datatype type) {
  integers_.resize(envelope_.integers);
  addresses_.resize(envelope_.addresses);
  counts_.resize(envelope_.counts);
  types_.resize(envelope_.types);
  const auto number = [](std::size_t size) { return static_cast<Number>(size); };
#if MPI_VERSION >= 4
  return PMPI_Type_get_contents_c(type, number(integers_.size()), number(addresses_.size()), number(counts_.size()),
                                  number(types_.size()), integers_.data(), addresses_.data(), counts_.data(),
                                  types_.data());
#else
  return PMPI_Type_get_contents(type, number(integers_.size()), number(addresses_.size()), number(types_.size()),
                                integers_.data(), addresses_.data(), types_.data());
#endif
}

BlockList::BlockList(const Contents& contents, bool in_bytes, bool has_lengths)
    : integers_(contents.integers()), counts_(contents.counts()), has_lengths_(has_lengths) {
  const std::size_t arguments = contents.has_counts() ? counts_.size() : integers_.size();
  if (arguments == 0 || get(0) < 0) return;
  size_ = static_cast<std::size_t>(get(0));
  first_offset_ = 1 + (has_lengths ? size_ : 1);
  const bool has_addresses = in_bytes && !contents.has_counts();
  if (has_addresses) addresses_ = contents.addresses();
  complete_ =
      arguments >= first_offset_ + (has_addresses ? 0 : size_) && addresses_.size() >= (has_addresses ? size_ : 0);
}

Contents::~Contents() {
  for (MPI_Datatype type : types_) {
    if (!is_predefined(type)) PMPI_Type_free(&type);
  }
}

}  // namespace plait::mpiio
