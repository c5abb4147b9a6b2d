/// The lists of fields by which public records are encoded and decoded (base/encoding/encoder.hpp), for messages
/// between ranks and programs.
#pragma once

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "container/content.hpp"
#include "plait/array_description.hpp"
#include "plait/layout.hpp"
#include "plait/region.hpp"

namespace plait {

constexpr Order last_value(Order /*any*/) { return Order::kFortran; }

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ArrayType>& type) {
  codec(type.shape, type.dtype, type.element_bytes, type.order);
}

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Slice>& slice) {
  codec(slice.start, slice.count, slice.stride, slice.single);
}

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ArrayAttribute>& attribute) {
  codec(attribute.name, attribute.dtype, attribute.shape, attribute.values, attribute.texts, attribute.error);
}

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ArrayProperties>& array) {
  for_each_property([&](const char*, const char*, auto member) { codec(array.*member); });
}

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ArrayDescription>& array) {
  codec(static_cast<base::Record<Codec, ArrayProperties>&>(array), array.name, array.type);
}

namespace container {

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Content>& content) {
  codec(static_cast<base::Record<Codec, ArrayDescription>&>(content), content.data_offset, content.whole_chunks,
        content.fill);
}

}  // namespace container

}  // namespace plait
