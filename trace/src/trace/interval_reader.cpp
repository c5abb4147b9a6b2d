#include "trace/interval_reader.hpp"

#include <utility>

#include "trace/formats/binary/reader.hpp"

namespace plait::trace {

namespace {

class IntervalReader : public Reader {
 public:
  IntervalReader(std::unique_ptr<Reader> reader, std::int64_t begin, std::int64_t end)
      : reader_(std::move(reader)), begin_(begin), end_(end) {}

  std::size_t read(std::span<Event> output) override {
    std::size_t selected = 0;
    while (selected == 0 && !is_past_end_) {
      const std::size_t count = reader_->read(output);
      if (count == 0) break;
      for (std::size_t i = 0; i < count; ++i) {
        const bool is_past = output[i].start >= end_ && end_ != INT64_MAX;
        is_past_end_ = is_past_end_ || is_past;
        if (output[i].start >= begin_ && !is_past) output[selected++] = output[i];
      }
    }
    return selected;
  }

  const Description& description() const override { return reader_->description(); }
  std::int64_t bytes_read() const override { return reader_->bytes_read(); }
  std::int64_t bytes_in_all() const override { return reader_->bytes_in_all(); }

 private:
  std::unique_ptr<Reader> reader_;
  std::int64_t begin_;
  std::int64_t end_;
  bool is_past_end_ = false;
};

}  // namespace

std::unique_ptr<Reader> between(std::unique_ptr<Reader> reader, std::int64_t begin, std::int64_t end) {
  if (auto* indexed = dynamic_cast<binary::BinaryReader*>(reader.get())) {
    indexed->restrict_to(begin, end);
    return reader;
  }
  return std::make_unique<IntervalReader>(std::move(reader), begin, end);
}

}  // namespace plait::trace
