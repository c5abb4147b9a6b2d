/// The bodies of the frames of protocol.hpp, which are encoded as records (base/encoding/encoder.hpp).  Both programs
/// must have the same lists of fields: a change of a list requires a new transport::native::Hello::kVersion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "container/encoding.hpp"
#include "copy/cast/element_cast.hpp"
#include "pipe/step_description.hpp"
#include "plait/region.hpp"

namespace plait::pipe {

/// Body of kAttach: describes a reader and the type that it expects.
struct AttachRequest {
  std::string program;  ///< the reader, as this_program() describes it
  std::int64_t processes = 1;
  std::string dtype;             ///< empty: any
  std::optional<Extents> shape;  ///< shape of the expected array; empty: any
  copy::Casting casting = copy::Casting::kNo;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, AttachRequest>& request) {
  codec(request.program, request.processes, request.dtype, request.shape, request.casting);
}

/// Body of kWelcome: describes the writer.
struct Welcome {
  ArrayType type;
  std::int64_t processes = 1;
  std::string program;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Welcome>& welcome) {
  codec(welcome.type, welcome.processes, welcome.program);
}

/// Body of kRefused: an error.
struct Refusal {
  int code = 0;
  std::string why;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Refusal>& refusal) {
  codec(refusal.code, refusal.why);
}

/// Body of kGet: requests the elements that rank `receiver` of the reader needs from rank `sender` of the writer.
struct ElementRequest {
  std::int64_t step = 0;
  int slot = 0;               ///< number of the memory slot that holds the step (slot_memory.hpp)
  std::int64_t variable = 0;  ///< number of the array in the step
  std::int64_t sender = 0;
  std::int64_t receiver = 0;
  bool fill_halo = false;  ///< true if the reader also needs the elements of its halo
  std::string layout;      ///< the reader's layout, as text
  Region region;           ///< the part of the array that the reader reads
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ElementRequest>& request) {
  codec(request.step, request.slot, request.variable, request.sender, request.receiver, request.fill_halo,
        request.layout, request.region);
}

/// Body of kStatusText: describes the writer, its queue and its readers.
struct StatusAnswer {
  struct Reader {
    std::string program;
    std::int64_t processes = 1;
    std::int64_t next_step = 0;
  };
  std::string program;
  std::int64_t processes = 1;
  ArrayType type;
  std::int64_t steps = 0;    ///< number of published steps
  std::int64_t queued = 0;   ///< number of steps in the queue
  std::int64_t queue = 0;    ///< capacity of the queue in steps
  std::int64_t dropped = 0;  ///< number of steps that were dropped unread
  std::int64_t bytes = 0;    ///< bytes of all published steps
  std::vector<Reader> readers;
  std::optional<StepDescription> newest;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, StatusAnswer::Reader>& reader) {
  codec(reader.program, reader.processes, reader.next_step);
}

template <class Codec>
void fields(Codec& codec, base::Record<Codec, StatusAnswer>& answer) {
  codec(answer.program, answer.processes, answer.type, answer.steps, answer.queued, answer.queue, answer.dropped,
        answer.bytes, answer.readers, answer.newest);
}

}  // namespace plait::pipe
