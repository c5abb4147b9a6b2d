#include "open/opening.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/text_reader.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/foreign.hpp"
#include "container/raw/container.hpp"
#include "container/registry.hpp"
#include "driver/registry.hpp"
#include "plait/error.hpp"

namespace plait::open {

using base::text;
using container::Container;
using driver::Contents;

namespace {

const Container& container_of_new(const std::string& name, Contents contents, const FileOptions& options) {
  if (contents == Contents::kRaw || (contents == Contents::kHeader && options.several))
    return container::raw::container();
  return container::container_named(contents == Contents::kHeader ? container::kHeaderName : name);
}

/// errors  kArgument: attributes that the format has not.
void check_attributes(const std::string& name, const Container& made, const FileOptions& wanted) {
  const auto check = [&](const ArrayAttributes& attributes, bool of_group) {
    for (const ArrayAttribute& one : attributes)
      if (const std::string why = made.refused_attribute(name, one, of_group); !why.empty())
        throw Error(ErrorKind::kArgument,
                    text(name, ": the attribute \"", one.name, "\" cannot be written: ", why, "; leave it out"));
  };
  check(wanted.attributes, false);
  for (const NamedArray& one : wanted.arrays) check(one.attributes, false);
  for (const GroupAttributes& group : wanted.groups) check(group.attributes, true);
}

}  // namespace

container::NewContent new_content(const std::string& name, Contents contents, FileOptions wanted) {
  // Elements of which only the size is known; a name that stands for a format promises more.
  if (contents == Contents::kHeader && !wanted.dtype && wanted.element_bytes > 0)
    wanted.dtype = text("|V", wanted.element_bytes);
  const Container& made = container_of_new(name, contents, wanted);
  if (!wanted.arrays.empty() && !made.names_arrays())
    throw Error(ErrorKind::kArgument,
                text(name,
                     ": several arrays were given, but a file of this name holds one; give a name that ends with "
                     ".npz or .safetensors"));
  const auto keeps = [](const NamedArray& one) {
    return one.chunk || !one.codec.empty() || !one.fill_value.empty() || !one.dimension_names.empty() ||
           !one.unlimited.empty();
  };
  if (!made.keeps_chunks() &&
      (wanted.chunk || wanted.shard || !wanted.codec.empty() || !wanted.fill_value.empty() ||
       !wanted.dimension_names.empty() || !wanted.unlimited.empty() || std::ranges::any_of(wanted.arrays, keeps)))
    throw Error(
        ErrorKind::kArgument,
        text(name,
             ": chunks, shards, a codec, a fill value, unlimited dimensions or names of dimensions were given, but a "
             "file of this name keeps its array in one piece and states none of them; leave them out, or give a name "
             "that ends with .zarr"));
  check_attributes(name, made, wanted);
  return made.create(name, wanted);
}

FileOpening::FileOpening(File::Impl& file, const FileOptions& options, collective::Collective& call, Contents contents,
                         plan::AccessOptions access)
    : file_(file), options_(options), call_(call), contents_(contents), access_(std::move(access)) {}

const Container& FileOpening::container_of(store::Store& store) const {
  if (contents_ == Contents::kHeader && !options_.several) {
    const Container& header = container::container_named(container::kHeaderName);
    return container::begins_as(header, store) ? header : container::raw::container();
  }
  if (contents_ != Contents::kByName || is_described_as_raw(store)) return container::raw::container();
  return container::container_of(name(), store);
}

bool FileOpening::is_described_as_raw(store::Store& store) const {
  if (&container::container_named(name()) != &container::raw::container() || !options_.shape ||
      (!options_.dtype && options_.element_bytes == 0) || !container::foreign_by_name(name()).empty())
    return false;
  const ArrayType type = container::described_type(options_, name(), false);
  const std::optional<std::int64_t> bytes = container::bytes_of(type.shape, type.element_bytes);
  return bytes && options_.offset == store.size() - *bytes;
}

store::NewFileOptions FileOpening::make() {
  container_ = &container_of_new(name(), contents_, options_);
  content_ = new_content(name(), contents_, options_);
  if ((options_.keeps_unfinished || options_.continues) && !driver::driver_of(name()).locate(name()).keeps_unfinished)
    throw Error(ErrorKind::kArgument,
                text(name(),
                     ": what is unfinished of a store of this kind is not kept; leave that out, or give the name of "
                     "another kind of file, such as one that ends with .npy or .zarr"));
  return {content_.file_bytes != 0 ? content_.file_bytes : content_.bytes(),
          content_.head,
          comm().alone(),
          options_.keeps_unfinished || options_.continues,
          options_.continues,
          &content_.groups};
}

void FileOpening::inspect(const std::shared_ptr<store::Store>& store) {
  try {
    look(store);
  } catch (const Error& error) {
    explain(error, *store);
  }
}

void FileOpening::look(const std::shared_ptr<store::Store>& store) {
  container_ = &container_of(*store);
  if (contents_ == Contents::kByName) container::check_content(name(), *container_);
  if (mode() == Mode::kReadWrite) container_->check_writable(name());
  view_ = container_->view(store, name(), {});
  access_.cold = store->is_cold();
  if (mode() == Mode::kReadWrite) container_->check_changeable(*view_);
  static_cast<container::Content&>(content_) = container_->inspect(*view_, name(), options_);
  container::check_size(content_, view_->size(), name(), options_, container_->tells());
}

void FileOpening::explain(const Error& error, store::Store& store) const {
  const driver::Driver& own = driver::driver_of(name());
  if (contents_ == Contents::kHeader) throw error;
  for (const driver::Driver* other : driver::drivers()) {
    const auto* files = dynamic_cast<const driver::FileDriver*>(other);
    if (files == nullptr || files == &own || !files->recognizes(store)) continue;
    throw Error(ErrorKind::kArgument, text(name(), " has ", store.size(), " bytes that ", files->stands_for(),
                                           "; open it as ", files->name_of(name())));
  }
  const std::string_view format = container::foreign_by_content(store);
  const Container* looks_like = container::container_in(store);
  if (format.empty() || container_->recognizes(store, container::Front(store).bytes())) throw error;
  const Container* stated = container::array_name(name()).format;
  const std::string remedy = looks_like == nullptr
                                 ? std::string(", which Plait does not read; use a library for that format")
                             : stated != nullptr ? text("; leave out ", stated->format(), ':')
                                                 : text("; give it a name that ends with ", looks_like->suffix());
  throw Error(error.kind(), text(error.what(), ". Its first bytes are those of ", format, " files", remedy),
              error.system_code());
}

std::string FileOpening::told() const {
  const ArrayType& type = content_.type;
  const auto known = std::ranges::find(container::containers(), container_);
  std::string out =
      text(known - container::containers().begin(), ' ', type.element_bytes, ' ', static_cast<int>(type.order), ' ',
           content_.data_offset, ' ', access_.memory_bytes, ' ', static_cast<int>(access_.strategy), ' ',
           access_.readers, ' ', access_.cold ? 1 : 0, ' ', type.shape.size());
  for (const std::int64_t extent : type.shape) base::append_parts(out, ' ', extent);
  base::append_parts(out, ' ', content_.chunk.size());
  for (const std::int64_t extent : content_.chunk) base::append_parts(out, ' ', extent);
  base::append_parts(out, ' ', content_.shard.size());
  for (const std::int64_t extent : content_.shard) base::append_parts(out, ' ', extent);
  base::append_parts(out, ' ', access_.costs ? 1 : 0);
  if (access_.costs)
    for (const plan::CostTerm& term : plan::kCostTerms)
      base::append_parts(out, ' ', std::bit_cast<std::int64_t>((*access_.costs).*term.value));
  const std::string source = access_.costs ? access_.costs->source : std::string();
  const std::string attributes =
      content_.attributes.empty() ? std::string() : container::packed_attributes(content_.attributes);
  base::append_parts(out, ' ', source.size(), ' ', type.dtype.size(), ' ', attributes.size(), '\n', source, type.dtype,
                     attributes);
  if (view_ && call_.transport().size() > 1) out += container_->tell(*view_);
  if (mode() == Mode::kWrite && call_.transport().size() > 1) out += container_->tell_new(content_);
  return out;
}

void FileOpening::adopt(const std::string& told, const core::Source& source) {
  std::shared_ptr<store::Store> store = source.store();
  if (call_.transport().rank() == 0) {
    if (view_) store = view_;
  } else {
    base::TextReader in(told);
    std::size_t number = 0;
    int order = 0;
    int strategy = 0;
    int cold = 0;
    std::size_t dimensions = 0;
    ArrayType& type = content_.type;
    in >> number >> type.element_bytes >> order >> content_.data_offset >> access_.memory_bytes >> strategy >>
        access_.readers >> cold >> dimensions;
    access_.cold = cold != 0;
    type.shape.resize(dimensions);
    for (std::int64_t& extent : type.shape) in >> extent;
    in >> dimensions;
    content_.chunk.resize(dimensions);
    for (std::int64_t& extent : content_.chunk) in >> extent;
    in >> dimensions;
    content_.shard.resize(dimensions);
    for (std::int64_t& extent : content_.shard) in >> extent;
    int measured = 0;
    in >> measured;
    const auto costs = std::make_shared<plan::CostModel>();
    for (const plan::CostTerm& term : plan::kCostTerms) {
      std::int64_t bits = 0;
      if (measured != 0 && in >> bits) (*costs).*term.value = std::bit_cast<double>(bits);
    }
    std::size_t source_bytes = 0;
    std::size_t dtype_bytes = 0;
    std::size_t attribute_bytes = 0;
    in >> source_bytes >> dtype_bytes >> attribute_bytes;
    container_ = container::containers()[number];
    type.order = static_cast<Order>(order);
    access_.strategy = static_cast<plan::Strategy>(strategy);
    const std::string_view texts = std::string_view(told).substr(told.find('\n') + 1);
    costs->source = texts.substr(0, source_bytes);
    if (measured != 0) access_.costs = costs;
    type.dtype = texts.substr(source_bytes, dtype_bytes);
    const std::string_view attributes = texts.substr(source_bytes + dtype_bytes, attribute_bytes);
    if (!attributes.empty()) content_.attributes = container::unpacked_attributes(attributes);
    const std::string_view rest = texts.substr(source_bytes + dtype_bytes + attribute_bytes);
    if (mode() == Mode::kWrite && container_->names_arrays())
      content_ = container_->told_new(name(), options_, rest);
    else if (mode() != Mode::kWrite)
      store = container_->view(std::move(store), name(), rest);
  }
  content_.keeps_unfinished = options_.keeps_unfinished || options_.continues;
  if (mode() == Mode::kWrite) store = container_->view_of_new(std::move(store), content_);
  file_.set_array({content_.type, content_.data_offset, content_.chunk, content_.shard, access_, options_.several,
                   access_.memory_bytes, content_.packed},
                  std::move(store));
  file_.set_attributes(content_.attributes);
  if (mode() == Mode::kReadWrite) adopt_changes();
  if (mode() != Mode::kWrite) return;
  std::vector<core::NamedArrayAt> members;
  for (const container::Member& member : content_.members)
    members.push_back({member.name, member.content.type, member.content.data_offset, member.content.chunk,
                       member.content.packed, member.content.attributes});
  if (!options_.arrays.empty()) file_.set_members(std::move(members));
  if (container_->seals())
    file_.set_seal(
        [container = container_, content = content_](store::Store& whole) { container->seal(whole, content); });
}

void FileOpening::adopt_changes() {
  const container::Container* const own = container_;
  const std::string path = name();
  if (own->keeps_changes(*file_.store()))
    file_.set_seal([own](store::Store& changed) { own->commit_changes(changed); });
  const bool changes = own->changes_attributes(*file_.store());
  const auto check = [own, path, changes](const std::string& attribute, const ArrayAttribute* value) {
    if (value != nullptr) container::check_attributes({*value}, path);
    std::string why = value == nullptr ? std::string() : own->refused_attribute(path, *value, false);
    if (why.empty() && !changes)
      why = "attributes of files of this format do not change in place; copy the array to a new file";
    if (!why.empty())
      throw Error(ErrorKind::kArgument, text(path, ": the attribute \"", attribute, "\" cannot be changed: ", why));
  };
  // The working directory may be another one by then.
  const std::string there = changes ? std::filesystem::absolute(path).string() : path;
  file_.set_attribute_changing(
      {check,
       [own, there](store::Store& view, const AttributeChanges& /*changed*/) { own->prepare_attributes(view, there); },
       [own, there](store::Store& view, const AttributeChanges& changed) {
         own->change_attributes(view, there, changed);
       }});
}

void FileOpening::share() {
  if (mode() == Mode::kRead || container_ == nullptr) return;
  if (mode() == Mode::kWrite ? !container_->shares(content_) : !container_->keeps_changes(*file_.store())) return;
  transport::Transport& transport = call_.transport();
  call_.step([&] { container_->share(*file_.store(), transport.counter(), transport.size() == 1); });
}

}  // namespace plait::open
