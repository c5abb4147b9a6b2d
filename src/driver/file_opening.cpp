// Opening an array: rank 0 reads or describes the file, and the other ranks take over its result.
//
// On rank 0 the driver calls make() for a new store or inspect() for an existing one, which determine the format and
// the array's type, offset and storage. encode() turns the result into a text, which the driver broadcasts. adopt()
// decodes it on the other ranks, and opens the array in this rank's own end of the store. Only rank 0 reads headers, so
// P ranks cause one read instead of P, and all ranks have the same description even if the file changes meanwhile.
//
// Example: rank 0 opens `t.npy`, reads its header and finds 100x200 doubles at byte 128. The other ranks receive the
// index of the npy format in container::formats(), the shape, dtype, order and offset, the access options from rank 0's
// environment, and the measured cost model, but read nothing.

#include "driver/file_opening.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/encoding.hpp"
#include "container/foreign.hpp"
#include "container/format_registry.hpp"
#include "container/properties.hpp"
#include "container/raw/raw_format.hpp"
#include "driver/driver_registry.hpp"
#include "plait/error.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"
#include "store/url.hpp"

namespace plait::driver {

using base::text;
using container::Format;
using driver::Contents;

namespace {

/// Window size (bytes of a transfer that are in memory at one time) for object stores. It is large because a window is
/// read by several concurrent requests, which take 20 to 100 ms each.
constexpr std::int64_t kNetworkWindow = std::int64_t{16} << 20;

/// Returns the format that a new store of that name gets.
const Format& find_new_format(const std::string& name, Contents contents, const FileOptions& options) {
  if (contents == Contents::kRaw || (contents == Contents::kHeader && options.several)) return container::raw::format();
  return container::format_named(contents == Contents::kHeader ? container::kHeaderName : name);
}

/// Measured constants of the cost model.
struct Costs {
  std::string source;
  std::vector<double> values;  ///< in the order of plan::kCostTerms
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Costs>& costs) {
  codec(costs.source, costs.values);
}

std::vector<double> to_values(const plan::CostModel& model) {
  std::vector<double> values;
  for (const plan::CostTerm& term : plan::kCostTerms) values.push_back(model.*term.value);
  return values;
}

plan::CostModel to_model(const Costs& costs) {
  plan::CostModel model;
  model.source = costs.source;
  for (std::size_t i = 0; i < std::min(costs.values.size(), plan::kCostTerms.size()); ++i)
    model.*plan::kCostTerms[i].value = costs.values[i];
  return model;
}

/// The cost model that rank 0 sent last.  Files with equal costs share one object, so that their plans can be compared.
class LastModel {
 public:
  /// Returns the last model if it has these costs; otherwise a new one.
  std::shared_ptr<const plan::CostModel> find_or_make(const Costs& costs) {
    const std::scoped_lock lock(mutex_);
    if (!model_ || model_->source != costs.source || to_values(*model_) != costs.values)
      model_ = std::make_shared<const plan::CostModel>(to_model(costs));
    return model_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const plan::CostModel> model_;
};

/// Returns the model with these costs, which all files of this process share.
std::shared_ptr<const plan::CostModel> shared_model(const Costs& costs) {
  static base::PerProcess<LastModel> last;
  return last.get().find_or_make(costs);
}

/// The access options that rank 0 has determined.
struct Access {
  std::int64_t memory_bytes = 0;
  plan::Strategy strategy = plan::Strategy::kAutomatic;
  std::int64_t readers = 0;
  std::int64_t window_bytes = 0;
  bool cold = false;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Access>& access) {
  codec(access.memory_bytes, access.strategy, access.readers, access.window_bytes, access.cold);
}

/// The array that rank 0 has found in a file, or described for a new one, for the other ranks.
struct FoundArray {
  std::int64_t format = 0;  ///< its index in container::formats()
  container::Content content;
  Access access;
  std::optional<Costs> costs;
  std::string dataset;  ///< result of Dataset::encoded(), or of NewFile::encoded()
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, FoundArray>& found_array) {
  codec(found_array.format, found_array.content, found_array.access, found_array.costs, found_array.dataset);
}

/// Checks that the format can store all attributes.
/// errors  kArgument: it cannot store one of them.
void check_attributes(const std::string& name, const Format& format, const FileOptions& options) {
  const auto check = [&](const ArrayAttributes& attributes, bool of_group) {
    for (const ArrayAttribute& attribute : attributes)
      if (const base::Rejection rejection = format.attribute_rejection(name, attribute, of_group))
        base::throw_argument_error(name, ": the attribute \"", attribute.name,
                                   "\" cannot be written: ", rejection.reason(), "; leave it out");
  };
  check(options.attributes, /*of_group=*/false);
  for (const ArrayDescription& array : options.arrays) check(array.attributes, /*of_group=*/false);
  for (const GroupAttributes& group : options.groups) check(group.attributes, /*of_group=*/true);
}

}  // namespace

std::unique_ptr<container::NewFile> describe_new_file(const std::string& name, Contents contents, FileOptions options) {
  // Elements of unknown type get a dtype of opaque bytes. A name that stands for a format requires a dtype instead.
  if (contents == Contents::kHeader && !options.dtype && options.element_bytes > 0)
    options.dtype = text("|V", options.element_bytes);
  const Format& format = find_new_format(name, contents, options);
  if (!options.arrays.empty() && !format.traits().names_arrays)
    base::throw_argument_error(
        name,
        ": several arrays were given, but a file of this name holds one; give a name that ends with "
        ".npz or .safetensors");
  if (!format.traits().has_chunks &&
      (container::describes_storage(options) || std::ranges::any_of(options.arrays, container::describes_storage)))
    base::throw_argument_error(
        name,
        ": chunks, shards, a codec, a fill value, unlimited dimensions or names of dimensions were given, but a "
        "file of this name stores its array in one piece and states none of them; leave them out, or give a name "
        "that ends with .zarr");
  const auto has_texts = [](const ArrayDescription& array) { return array.type.has_texts(); };
  if (!format.traits().has_texts &&
      (options.dtype == ArrayType::kTexts || std::ranges::any_of(options.arrays, has_texts)))
    base::throw_argument_error(name,
                               ": texts of any length (dtype text) were given, but a file of this name has elements of "
                               "a fixed size; convert them (target_dtype=U, --target-dtype U), or "
                               "give a name that ends with .h5, .nc or .zarr");
  if (!format.traits().copies_objects && !options.library_copies.arrays.empty())
    base::throw_argument_error(name,
                               ": copies of arrays by HDF5's library were given, which only HDF5 files take; give "
                               "a name that ends with .h5");
  check_attributes(name, format, options);
  return format.create(name, options);
}

bool lacks_array(const std::string& name, const std::shared_ptr<store::Store>& store) {
  if (!container::array_name(name).array || store::is_raw(name)) return false;
  const std::unique_ptr<container::OpenedFile> opened = container::detect_format(name, *store).open(store, name);
  const container::FileChanges* const changes = opened->changes();
  return changes != nullptr && changes->lacks_array();
}

FileOpening::FileOpening(File::Impl& file, const FileOptions& options, collective::Collective& call, Contents contents,
                         plan::AccessOptions access)
    : file_(file), options_(options), call_(call), contents_(contents), access_(std::move(access)) {}

const Format& FileOpening::detect_format(store::Store& store, std::optional<container::FileHeader>& header) const {
  if (contents_ == Contents::kHeader && !options_.several) {
    const Format& with_header = container::format_named(container::kHeaderName);
    return container::store_has_signature(with_header, store) ? with_header : container::raw::format();
  }
  if (contents_ != Contents::kByName || is_described_as_raw(store)) return container::raw::format();
  return container::detect_format(name(), store, header);
}

bool FileOpening::is_described_as_raw(store::Store& store) const {
  if (&container::format_named(name()) != &container::raw::format() || !options_.shape ||
      (!options_.dtype && options_.element_bytes == 0) || !container::foreign_by_name(name()).empty())
    return false;
  const ArrayType type = container::make_array_type(options_, name(), /*is_new=*/false);
  const std::optional<std::int64_t> bytes = container::array_bytes(type.shape, type.element_bytes);
  return bytes && options_.offset == store.size() - *bytes;
}

FileOptions FileOpening::new_file_options() const {
  FileOptions options = options_;
  options.durable = file_.context().is_durable();
  return options;
}

store::NewFileOptions FileOpening::make() {
  format_ = &find_new_format(name(), contents_, options_);
  new_file_ = describe_new_file(name(), contents_, new_file_options());
  const container::NewContent& content = new_file_->content();
  content_ = static_cast<const container::Content&>(content);
  if ((options_.keeps_unfinished || options_.continues) &&
      !driver::find_driver(name()).locate(name()).supports_unfinished)
    base::throw_argument_error(
        name(),
        ": an unfinished file of this kind cannot stay under a temporary name; leave that option "
        "out, or name a file of another kind, such as one that ends with .npy or .zarr");
  return {.bytes = content.file_bytes != 0 ? content.file_bytes : content.bytes(),
          .head = content.head,
          .claimed = comm().alone(),
          .keeps_unfinished = options_.keeps_unfinished || options_.continues,
          .continues = options_.continues,
          .groups = &content.groups,
          .durable = file_.context().is_durable()};
}

void FileOpening::inspect(const std::shared_ptr<store::Store>& store) {
  try {
    open_dataset(store);
  } catch (const Error& error) {
    throw_with_explanation(error, *store);
  }
}

void FileOpening::open_dataset(const std::shared_ptr<store::Store>& store) {
  std::optional<container::FileHeader> header;
  format_ = &detect_format(*store, header);
  if (contents_ == Contents::kByName) container::check_content(name(), *format_);
  const std::unique_ptr<container::OpenedFile> opened = format_->open(store, name());
  if (header) opened->offer_header(header->bytes());
  container::FileChanges* const changes = opened->changes();
  if (mode() != Mode::kRead && changes != nullptr) changes->check();
  if (mode() == Mode::kAppend && (!format_->traits().states_type || (adds_array() && changes == nullptr)))
    throw_cannot_grow();
  if (adds_array()) check_attributes(name(), *format_, options_);
  dataset_ = adds_array() ? changes->add(options_) : opened->dataset(options_);
  access_.cold = store->is_cold();
  if (store::is_url(store->name()) && store::object_store_kind(store->name()).whole_objects)
    access_.window_bytes = kNetworkWindow;
  // Two-phase access (some ranks read and distribute) fetches each byte of an object only once, whatever the layout.
  if (store->object_identity() && access_.strategy == plan::Strategy::kAutomatic)
    access_.strategy = plan::Strategy::kTwoPhase;
  const bool appends_to_array = mode() == Mode::kAppend && !adds_array();
  if (appends_to_array) begin_shape_changes();
  if (mode() != Mode::kRead) dataset_->prepare_changes();
  content_ = dataset_->content();
  const bool states_type = format_->traits().states_type;
  if (states_type) container::check_options(content_, name(), options_);
  container::check_size(content_, dataset_->store()->size(), name(), options_, states_type);
}

void FileOpening::begin_shape_changes() {
  container::ShapeChanges* const changes = dataset_->shape_changes();
  if (changes == nullptr) throw_cannot_grow();
  changes->begin();
}

void FileOpening::throw_cannot_grow() const {
  base::throw_argument_error(name(), " cannot grow: an array in ", format_->traits().kind,
                             " does not change its shape in place; copy it into a Zarr array, an HDF5 or netCDF file "
                             "with an unlimited dimension, or a .npy file, and append to that");
}

void FileOpening::throw_with_explanation(const Error& error, store::Store& store) const {
  const driver::Driver& own_driver = driver::find_driver(name());
  if (contents_ == Contents::kHeader) throw error;
  for (const driver::Driver* other : driver::drivers()) {
    const auto* files = dynamic_cast<const driver::FileDriver*>(other);
    if (files == nullptr || files == &own_driver || !files->recognizes(store)) continue;
    base::throw_argument_error(name(), " has ", store.size(), " bytes that ", files->content_description(),
                               "; open it as ", files->make_name(name()));
  }
  const std::string_view format = container::foreign_by_content(store);
  const Format* looks_like = container::find_format_by_content(store);
  if (format.empty() || format_ == nullptr || format_->recognizes(store, container::FileHeader(store).bytes()))
    throw error;
  const Format* stated = container::array_name(name()).format;
  const std::string remedy =
      looks_like == nullptr ? std::string(", which Plait does not read; use a library for that format")
      : stated != nullptr   ? text("; leave out ", stated->traits().name, ':')
                            : text("; give it a name that ends with ", looks_like->traits().suffix);
  base::rethrow(error, error.what(), ". Its first bytes are those of ", format, " files", remedy);
}

std::string FileOpening::encode() const {
  FoundArray found_array;
  found_array.format = std::ranges::find(container::formats(), format_) - container::formats().begin();
  found_array.content = content_;
  found_array.access = {access_.memory_bytes, access_.strategy, access_.readers, access_.window_bytes, access_.cold};
  if (access_.costs) found_array.costs = Costs{access_.costs->source, to_values(*access_.costs)};
  if (call_.transport().size() > 1) found_array.dataset = new_file_ ? new_file_->encoded() : dataset_->encoded();
  return base::encode(found_array);
}

std::string FileOpening::decode(const std::string& encoded) {
  auto found_array = base::decode<FoundArray>(encoded, base::kAnotherRank);
  format_ = container::formats()[static_cast<std::size_t>(found_array.format)];
  content_ = std::move(found_array.content);
  access_.memory_bytes = found_array.access.memory_bytes;
  access_.strategy = found_array.access.strategy;
  access_.readers = found_array.access.readers;
  access_.window_bytes = found_array.access.window_bytes;
  access_.cold = found_array.access.cold;
  if (found_array.costs) access_.costs = shared_model(*found_array.costs);
  return std::move(found_array.dataset);
}

std::unique_ptr<container::Dataset> FileOpening::attach(std::shared_ptr<store::Store> store, std::string_view encoded) {
  if (mode() != Mode::kWrite) return format_->attach(content_, std::move(store), name(), encoded);
  if (format_->traits().names_arrays) {
    new_file_ = format_->attach_new(name(), new_file_options(), encoded);
  } else {
    container::NewContent content;
    static_cast<container::Content&>(content) = content_;
    new_file_ = std::make_unique<container::NewFile>(std::move(content));
  }
  return new_file_->dataset(std::move(store));
}

void FileOpening::adopt(const std::string& encoded, const core::Source& source) {
  if (call_.transport().rank() != 0)
    dataset_ = attach(source.store(), decode(encoded));
  else if (new_file_)
    dataset_ = new_file_->dataset(source.store());
  const container::Content& content = dataset_->content();
  file_.set_array({content.type, content.data_offset, content.chunk_shape(), content.shard_shape(), access_,
                   options_.several, access_.memory_bytes, content.whole_chunks},
                  *format_, std::move(dataset_));
  if (adds_array()) file_.storage().mark_added();
  if (new_file_ && !options_.arrays.empty()) file_.set_members(new_file_->content().members);
}

void FileOpening::share() {
  if (mode() == Mode::kRead || format_ == nullptr) return;
  container::DeferredChanges* const changes = file_.storage().deferred_changes();
  if (changes == nullptr || !changes->needs_counter()) return;
  transport::Transport& transport = call_.transport();
  call_.run_phase([&] { changes->share(transport.counter(), transport.size() == 1); });
}

}  // namespace plait::driver
