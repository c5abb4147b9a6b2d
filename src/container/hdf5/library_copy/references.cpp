// Translating references for another file.
//
// Problem: a reference to an object is its address in the file, and a reference to a region is the address of an entry
// of the file's heap. Neither is valid in a copy, whose objects have other addresses. H5Ocopy() has a flag to copy
// references, but it then also copies the objects to which they refer, although Plait copies these itself.
//
// Idea: the elements are read into memory, and each reference is replaced by a reference to the object that has the
// same name in the new file. The names of all objects of the source are listed once. Types are analyzed first, so that
// only the members of records that contain references are visited.
//
// Example: a.h5 has the dataset x at address 800, and the dataset refs with one element, 800. In b.h5 the dataset x is
// at address 1,400. The object at address 800 of a.h5 has the name x, and x is at 1,400 in b.h5, so that the element of
// refs in b.h5 becomes 1,400.

#include "container/hdf5/library_copy/references.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "container/hdf5/netcdf4/links.hpp"
#include "plait/layout.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using Kind = ReferencePart::Kind;

constexpr std::size_t kObjectBytes = sizeof(hobj_ref_t);
constexpr std::size_t kRegionBytes = sizeof(hdset_reg_ref_t);

/// Returns the number of elements of an array type; 0 if the library fails.
std::size_t array_count(const Library& hdf5, hid_t type) {
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int dimensions = hdf5->H5Tget_array_ndims(type);
  if (dimensions < 1 || hdf5->H5Tget_array_dims2(type, extents.data()) < 0) return 0;
  std::size_t count = 1;
  for (int d = 0; d < dimensions; ++d) count *= extents[static_cast<std::size_t>(d)];
  return count;
}

/// Finds the references in the members of a compound type.
std::optional<ReferencePart> find_in_members(const Library& hdf5, hid_t type) {
  ReferencePart fields{.kind = Kind::kFields};
  const int count = hdf5->H5Tget_nmembers(type);
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<unsigned>(i);
    const Handle member(hdf5->H5Tget_member_type(type, number), hdf5->H5Tclose);
    std::optional<ReferencePart> part = find_references(hdf5, member.id());
    if (!part) continue;
    part->offset = hdf5->H5Tget_member_offset(type, number);
    fields.parts.push_back(std::move(*part));
  }
  return fields.parts.empty() ? std::nullopt : std::optional(std::move(fields));
}

/// Finds the references in the elements of an array or a sequence.
std::optional<ReferencePart> find_in_base(const Library& hdf5, hid_t type, Kind kind) {
  const Handle base(hdf5->H5Tget_super(type), hdf5->H5Tclose);
  std::optional<ReferencePart> part = find_references(hdf5, base.id());
  if (!part) return {};
  ReferencePart result{.kind = kind};
  result.count = kind == Kind::kArray ? array_count(hdf5, type) : 1;
  result.stride = hdf5->H5Tget_size(base.id());
  result.parts.push_back(std::move(*part));
  return result;
}

/// Calls visit(kind, reference) for each reference in an element. Byte is std::byte or const std::byte.
template <typename Byte, typename Visit>
void for_each_reference(const ReferencePart& part, Byte* element, const Visit& visit) {
  Byte* const begin = element + part.offset;
  std::size_t count = part.count;
  Byte* first = begin;
  if (part.kind == Kind::kObject || part.kind == Kind::kRegion) return visit(part.kind, begin);
  if (part.kind == Kind::kFields) {
    for (const ReferencePart& member : part.parts) for_each_reference(member, begin, visit);
    return;
  }
  if (part.kind == Kind::kSequence) {
    hvl_t sequence{};
    std::memcpy(&sequence, begin, sizeof sequence);
    count = sequence.p == nullptr ? 0 : sequence.len;
    first = static_cast<std::byte*>(sequence.p);
  }
  for (std::size_t i = 0; i < count; ++i) for_each_reference(part.parts.front(), first + i * part.stride, visit);
}

bool is_null(std::span<const std::byte> reference) {
  return std::ranges::all_of(reference, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

std::optional<ReferencePart> find_references(const Library& hdf5, hid_t type) {
  if (hdf5->H5Tdetect_class(type, H5T_REFERENCE) <= 0) return {};
  switch (static_cast<int>(hdf5->H5Tget_class(type))) {
    case H5T_REFERENCE:
      return ReferencePart{.kind = hdf5->H5Tget_size(type) == kObjectBytes ? Kind::kObject : Kind::kRegion};
    case H5T_COMPOUND: return find_in_members(hdf5, type);
    case H5T_ARRAY: return find_in_base(hdf5, type, Kind::kArray);
    case H5T_VLEN: return find_in_base(hdf5, type, Kind::kSequence);
    default: return {};
  }
}

bool are_translatable(const Library& hdf5, hid_t type) {
  if (hdf5->H5Tdetect_class(type, H5T_REFERENCE) <= 0) return true;
  const int kind = static_cast<int>(hdf5->H5Tget_class(type));
  if (kind == H5T_REFERENCE) {
    const std::size_t bytes = hdf5->H5Tget_size(type);
    return bytes == kObjectBytes || bytes == kRegionBytes;
  }
  if (kind != H5T_COMPOUND) {
    const Handle base(hdf5->H5Tget_super(type), hdf5->H5Tclose);
    return base && are_translatable(hdf5, base.id());
  }
  for (int i = 0; i < hdf5->H5Tget_nmembers(type); ++i) {
    const Handle member(hdf5->H5Tget_member_type(type, static_cast<unsigned>(i)), hdf5->H5Tclose);
    if (!member || !are_translatable(hdf5, member.id())) return false;
  }
  return true;
}

void ReferenceTranslator::translate(const ReferencePart& part, std::byte* element, const std::string& what) {
  for_each_reference(part, element, [&](Kind kind, std::byte* reference) {
    if (kind == Kind::kRegion) return translate_region(reference, what);
    haddr_t address = 0;
    std::memcpy(&address, reference, sizeof address);
    address = translate_object(address, what);
    std::memcpy(reference, &address, sizeof address);
  });
}

bool ReferenceTranslator::has_all_targets(const ReferencePart& part, std::byte* element, Unlinked unlinked) {
  bool has_all = true;
  for_each_reference(part, element, [&](Kind kind, std::byte* reference) {
    if (!has_all || is_null({reference, kind == Kind::kRegion ? kRegionBytes : kObjectBytes})) return;
    const std::optional<std::string> path = referenced_path(kind, reference);
    has_all = path ? can_find_or_make(*path) : unlinked == Unlinked::kAccepted;
  });
  return has_all;
}

std::optional<std::string> ReferenceTranslator::referenced_path(Kind kind, std::byte* reference) {
  if (kind == Kind::kObject) {
    haddr_t address = 0;
    std::memcpy(&address, reference, sizeof address);
    return source_path(address);
  }
  const Handle object(hdf5_->H5Rdereference2(files_.source, 0, H5R_DATASET_REGION, reference), hdf5_->H5Oclose);
  const std::optional<haddr_t> address = object ? hdf5_.address(object.id()) : std::nullopt;
  return address ? source_path(*address) : std::nullopt;
}

bool ReferenceTranslator::can_find_or_make(const std::string& path) const {
  if (expected_.contains(path) || expected_.contains(variable_path(path)) || open_target(path)) return true;
  const Handle object(hdf5_->H5Oopen(files_.source, text("/", path).c_str(), 0), hdf5_->H5Oclose);
  const int kind = object ? hdf5_->H5Iget_type(object.id()) : -1;
  return kind == H5I_GROUP || kind == H5I_DATATYPE;  // find_or_make() makes them
}

haddr_t ReferenceTranslator::translate_object(haddr_t address, const std::string& what) {
  if (address == 0) return 0;
  if (const auto known = translations_.find(address); known != translations_.end()) return known->second;
  haddr_t translated = 0;
  if (const std::optional<std::string> path = source_path(address)) {
    const std::optional<haddr_t> found = hdf5_.address(find_or_make(*path, what).id());
    if (!found)
      base::throw_system_error(EIO, what, ": an object that it refers to cannot be opened by ", hdf5_.describe(),
                               hdf5_.last_error());
    translated = *found;
  }
  return translations_[address] = translated;
}

void ReferenceTranslator::translate_region(std::byte* reference, const std::string& what) {
  if (is_null({reference, kRegionBytes})) return;
  const Handle region(hdf5_->H5Rget_region(files_.source, H5R_DATASET_REGION, reference), hdf5_->H5Sclose);
  const std::optional<std::string> path = region ? referenced_path(Kind::kRegion, reference) : std::nullopt;
  if (!path) {
    std::memset(reference, 0, kRegionBytes);
    return;
  }
  const Handle target = find_or_make(*path, what);
  if (hdf5_->H5Rcreate(reference, target.id(), ".", H5R_DATASET_REGION, region.id()) < 0)
    base::throw_system_error(EIO, what, ": a reference to a region of ", files_.source_name, "::", *path,
                             " cannot be made by ", hdf5_.describe(), hdf5_.last_error());
}

std::optional<std::string> ReferenceTranslator::source_path(haddr_t address) {
  if (paths_.empty()) list_source();
  const auto found = paths_.find(address);
  return found == paths_.end() ? std::nullopt : std::optional(found->second);
}

void ReferenceTranslator::list_source() {
  std::vector<std::string> to_visit{""};
  while (!to_visit.empty()) {
    const std::string path = std::move(to_visit.back());
    to_visit.pop_back();
    const Handle object(hdf5_->H5Oopen(files_.source, text("/", path).c_str(), 0), hdf5_->H5Oclose);
    const std::optional<haddr_t> address = object ? hdf5_.address(object.id()) : std::nullopt;
    if (!address || !paths_.emplace(*address, path).second) continue;
    if (hdf5_->H5Iget_type(object.id()) != H5I_GROUP) continue;
    const std::optional<std::vector<Link>> links = read_links(hdf5_, object.id());
    if (!links) continue;
    for (auto link = links->rbegin(); link != links->rend(); ++link)
      if (link->kind == H5L_TYPE_HARD) to_visit.push_back(path.empty() ? link->name : text(path, '/', link->name));
  }
}

Handle ReferenceTranslator::open_target(const std::string& path) const {
  const auto new_name = new_names_.find(path);
  const std::string name = new_name == new_names_.end() ? path : new_name->second;
  Handle object(hdf5_->H5Oopen(files_.target, text("/", name).c_str(), 0), hdf5_->H5Oclose);
  if (object || variable_path(name) == name) return object;
  return {hdf5_->H5Oopen(files_.target, text("/", variable_path(name)).c_str(), 0), hdf5_->H5Oclose};
}

Handle ReferenceTranslator::find_or_make(const std::string& path, const std::string& what) const {
  if (Handle found = open_target(path)) return found;
  const Handle object(hdf5_->H5Oopen(files_.source, text("/", path).c_str(), 0), hdf5_->H5Oclose);
  const int kind = object ? hdf5_->H5Iget_type(object.id()) : -1;
  const Handle link_creation(hdf5_->H5Pcreate(hdf5_->H5P_CLS_LINK_CREATE_ID_g), hdf5_->H5Pclose);
  hdf5_->H5Pset_create_intermediate_group(link_creation.id(), 1);
  if (kind == H5I_GROUP)
    return {hdf5_->H5Gcreate2(files_.target, path.c_str(), link_creation.id(), 0, 0), hdf5_->H5Gclose};
  if (kind == H5I_DATATYPE && hdf5_->H5Ocopy(object.id(), ".", files_.target, path.c_str(), 0, link_creation.id()) >= 0)
    return open_target(path);
  base::throw_argument_error(what, " refers to ", files_.source_name, "::", path, ", which is not copied to ",
                             files_.target_name,
                             "; copy the whole file, or leave the array out (skip_unsupported=True, "
                             "--skip-unsupported)");
}

}  // namespace plait::container::hdf5
