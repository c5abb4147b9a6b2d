// The queue of steps: slots of new steps, the next step of each reader, and what happens if the queue is full.
#include "pipe/writer/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace {

using plait::pipe::FullQueuePolicy;
using plait::pipe::Schedule;

/// Begins and publishes the next step, and returns its number.
std::int64_t publish_step(Schedule& schedule) {
  const auto begun = schedule.begin();
  EXPECT_TRUE(begun.has_value());
  schedule.publish();
  return begun->step;
}

TEST(PipeSchedule, NumbersStepsAndFillsItsSlots) {
  Schedule schedule(2, FullQueuePolicy::kWait);
  const auto first = schedule.begin();
  EXPECT_EQ(first->step, 0);
  schedule.publish();
  const auto second = schedule.begin();
  EXPECT_EQ(second->step, 1);
  EXPECT_NE(second->slot, first->slot);
  schedule.publish();
  EXPECT_FALSE(schedule.begin().has_value());
  EXPECT_EQ(schedule.queued_steps(), 2);
}

TEST(PipeSchedule, HoldsStepsUntilAReaderComes) {
  Schedule schedule(2, FullQueuePolicy::kWait);
  publish_step(schedule);
  publish_step(schedule);
  const auto reader = schedule.attach();
  EXPECT_EQ(schedule.next(reader)->step, 0);
  EXPECT_FALSE(schedule.begin().has_value());
  schedule.done(reader);
  EXPECT_EQ(publish_step(schedule), 2);
  EXPECT_EQ(schedule.next(reader)->step, 1);
}

TEST(PipeSchedule, AReaderMayReportItsProgressLater) {
  Schedule schedule(3, FullQueuePolicy::kWait);
  const auto polling = schedule.attach();
  const auto reporting = schedule.attach();
  for (int i = 0; i < 3; ++i) publish_step(schedule);
  for (int i = 0; i < 2; ++i) {
    schedule.next(polling);
    schedule.done(polling);
  }
  EXPECT_FALSE(schedule.begin().has_value());
  schedule.set_progress(reporting, 0, 1);
  EXPECT_EQ(schedule.position(reporting), 0);
  EXPECT_EQ(schedule.queued_steps(), 2);
  EXPECT_EQ(publish_step(schedule), 3);
  schedule.set_progress(reporting, -7, -7);
  EXPECT_EQ(schedule.position(reporting), 0) << "a reader cannot go back";
  schedule.set_progress(reporting, 1000, 1000);
  EXPECT_EQ(schedule.position(reporting), 3) << "nor beyond the last step";
  EXPECT_EQ(schedule.queued_steps(), 2) << "the other reader has read two";
}

TEST(PipeSchedule, AReaderThatLeavesDuringAStepMayCountAsHavingReadIt) {
  for (const bool counts_as_read : {false, true}) {
    Schedule schedule(2, FullQueuePolicy::kWait);
    const auto reader = schedule.attach();
    publish_step(schedule);
    schedule.set_progress(reader, -1, 0);
    schedule.leave(reader, counts_as_read);
    EXPECT_EQ(schedule.queued_steps(), counts_as_read ? 0 : 1);
  }
}

TEST(PipeSchedule, EachReaderGetsEveryStepFromItsFirstOne) {
  Schedule schedule(3, FullQueuePolicy::kWait);
  const auto fast = schedule.attach();
  publish_step(schedule);
  EXPECT_EQ(schedule.next(fast)->step, 0);
  schedule.done(fast);
  publish_step(schedule);
  const auto late = schedule.attach();
  EXPECT_EQ(schedule.next(late)->step, 1) << "the step before has been read and released";
  EXPECT_EQ(schedule.next(fast)->step, 1);
  schedule.done(fast);
  schedule.done(late);
  EXPECT_EQ(schedule.queued_steps(), 0);
}

TEST(PipeSchedule, UnreadStepsOfALeavingReaderAreHeldForTheNext) {
  Schedule schedule(2, FullQueuePolicy::kWait);
  const auto leaving = schedule.attach();
  publish_step(schedule);
  EXPECT_EQ(schedule.next(leaving)->step, 0);
  schedule.leave(leaving, /*counts_as_read=*/false);
  const auto other = schedule.attach();
  EXPECT_EQ(schedule.next(other)->step, 0);
}

TEST(PipeSchedule, AReaderThatLeavesWithoutAnErrorReleasesItsStep) {
  Schedule schedule(1, FullQueuePolicy::kWait);
  const auto reader = schedule.attach();
  publish_step(schedule);
  EXPECT_EQ(schedule.next(reader)->step, 0);
  EXPECT_FALSE(schedule.begin().has_value());
  schedule.leave(reader, /*counts_as_read=*/true);
  EXPECT_EQ(schedule.queued_steps(), 0);
  EXPECT_EQ(publish_step(schedule), 1);
}

TEST(PipeSchedule, AStepThatIsNotPublishedUsesNoSlot) {
  Schedule schedule(2, FullQueuePolicy::kWait);
  for (int i = 0; i < 5; ++i) {
    const auto begun = schedule.begin();
    ASSERT_TRUE(begun.has_value());
    EXPECT_EQ(begun->step, 0);
  }
  schedule.publish();
  EXPECT_EQ(schedule.queued_steps(), 1);
}

TEST(PipeSchedule, IdleReadersDoNotStopAWriterThatDropsSteps) {
  Schedule schedule(3, FullQueuePolicy::kDropOldest);
  std::vector<std::uint64_t> readers;
  int steps_read = 0;
  for (int i = 0; i < 6; ++i) {
    readers.push_back(schedule.attach());
    publish_step(schedule);
    for (const std::uint64_t reader : readers) steps_read += schedule.next(reader).has_value() ? 1 : 0;
  }
  EXPECT_GE(steps_read, 2);
  for (int i = 0; i < 10; ++i) publish_step(schedule);
}

TEST(PipeSchedule, DropsTheOldestStepThatIsNotBeingRead) {
  Schedule schedule(2, FullQueuePolicy::kDropOldest);
  const auto reader = schedule.attach();
  publish_step(schedule);
  const auto reading = schedule.next(reader);
  EXPECT_EQ(reading->step, 0);
  for (std::int64_t step = 1; step < 10; ++step) {
    const auto begun = schedule.begin();
    ASSERT_TRUE(begun.has_value());
    EXPECT_NE(begun->slot, reading->slot) << "a step that is being read stays";
    schedule.publish();
  }
  EXPECT_EQ(schedule.dropped_steps(), 8);
  schedule.done(reader);
  EXPECT_EQ(schedule.next(reader)->step, 9);
}

TEST(PipeSchedule, EndsWhenAllStepsHaveBeenRead) {
  Schedule schedule(2, FullQueuePolicy::kWait);
  const auto reader = schedule.attach();
  publish_step(schedule);
  schedule.end();
  EXPECT_FALSE(schedule.is_at_end(reader));
  EXPECT_FALSE(schedule.is_drained());
  EXPECT_EQ(schedule.next(reader)->step, 0);
  schedule.done(reader);
  EXPECT_TRUE(schedule.is_at_end(reader));
  EXPECT_TRUE(schedule.is_drained());
}

TEST(PipeSchedule, ACancelledStepReleasesItsSlotAndNumber) {
  Schedule schedule(1, FullQueuePolicy::kWait);
  EXPECT_EQ(schedule.begin()->step, 0);
  schedule.cancel();
  EXPECT_EQ(publish_step(schedule), 0);
}

TEST(PipeSchedule, EndsIfTheNewestStepWasDroppedForACancelledOne) {
  Schedule schedule(1, FullQueuePolicy::kDropOldest);
  const auto reader = schedule.attach();
  publish_step(schedule);
  EXPECT_TRUE(schedule.begin().has_value());
  schedule.cancel();
  schedule.end();
  EXPECT_TRUE(schedule.is_at_end(reader));
}

/// Random events: no slot has two steps, no step is overwritten while it is read, and without drops no reader misses
/// one.
TEST(PipeSchedule, KeepsItsGuaranteesInAnyOrderOfEvents) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    const bool drops_steps = pick(2) == 1;
    Schedule schedule((drops_steps ? 2 : 1) + pick(4),
                      drops_steps ? FullQueuePolicy::kDropOldest : FullQueuePolicy::kWait);
    struct ReaderProgress {
      std::int64_t last_read = -1;
      std::int64_t reading = -1;
      int slot = -1;
      bool has_read_any = false;
    };
    std::map<std::uint64_t, ReaderProgress> readers;
    std::map<int, std::int64_t> slots;  // the step in each slot
    for (int event = 0; event < 300; ++event) {
      // The writer begins a step (0 to 2), a reader attaches (3), or a reader leaves (4) or continues (4 to 7).
      const int kind = pick(8);
      if (kind < 3) {
        if (const auto begun = schedule.begin()) {
          for (const auto& [id, progress] : readers)
            ASSERT_FALSE(progress.reading >= 0 && progress.slot == begun->slot) << seed;
          if (pick(10) == 0) {
            schedule.cancel();
          } else {
            slots[begun->slot] = begun->step;
            schedule.publish();
          }
        } else {
          ASSERT_FALSE(drops_steps) << seed;
        }
      } else if (kind == 3 && readers.size() < 3) {
        readers[schedule.attach()];
      } else if (!readers.empty()) {
        const auto chosen = std::next(readers.begin(), pick(static_cast<int>(readers.size())));
        auto& [id, progress] = *chosen;
        if (kind == 4 && pick(5) == 0) {
          schedule.leave(id, pick(2) == 0);
          readers.erase(chosen);
        } else if (progress.reading >= 0) {
          ASSERT_EQ(slots[progress.slot], progress.reading) << seed;
          schedule.done(id);
          progress.last_read = progress.reading;
          progress.reading = -1;
        } else if (const auto next_step = schedule.next(id)) {
          ASSERT_EQ(slots[next_step->slot], next_step->step) << seed;
          if (progress.has_read_any) {
            ASSERT_GT(next_step->step, progress.last_read) << seed;
            if (!drops_steps) {
              ASSERT_EQ(next_step->step, progress.last_read + 1) << seed;
            }
          }
          progress.has_read_any = true;
          progress.reading = next_step->step;
          progress.slot = next_step->slot;
        }
      }
      ASSERT_LE(schedule.queued_steps(), schedule.slots());
    }
  }
}

}  // namespace
