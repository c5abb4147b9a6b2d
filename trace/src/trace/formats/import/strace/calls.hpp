/// The effects of the calls in a trace of strace.
#pragma once

#include <string_view>

namespace plait::trace::strace {

/// ...At: at an offset that is an argument. ...Open: on a descriptor instead of a path.
enum class Effect : unsigned char {
  kNothing,  ///< no effect on input and output
  kRead,
  kWrite,
  kReadAt,
  kWriteAt,
  kReadVector,
  kWriteVector,
  kReadVectorAt,
  kWriteVectorAt,
  kOpen,
  kOpenAt,
  kCreate,
  kClose,
  kCloseRange,
  kDuplicate,
  kControl,  ///< fcntl, which may duplicate a descriptor
  kSeek,
  kSeekLong,  ///< _llseek, which returns the position through an argument
  kTruncate,
  kTruncateOpen,
  kSync,
  kMap,
  kMetadata,
  kMetadataOpen,  ///< metadata of an open file
  kPipe,
  kMake,  ///< makes a descriptor of something else than a file with a path, such as a socket
  kSend,  ///< sendfile
  kCopy,  ///< copy_file_range and splice
  kSubmit,
  kRing,
  kFork,
  kExec,
  kLeftRead,   ///< receives data, but is not converted to an event
  kLeftWrite,  ///< sends data, but is not converted to an event
  kLeftOther,  ///< transfers data, but its result is not the number of bytes
};

/// Returns the effect of a system call by its name; kNothing for one that has no effect on input and output.
Effect find_effect(std::string_view call);

}  // namespace plait::trace::strace
