// SPDX-License-Identifier: Apache-2.0
// Reads the input as a saved table state. If the first byte is odd, the checksum is made to fit, so that what stands
// behind it is reached. A state that is accepted is changed, looked at, and has to survive being saved again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "orient/table_state.h"
#include "orient/table_state_bytes.h"
#include "orient/triage.h"

namespace firn::orient {
namespace {

void Use(TableState& state) {
  const Policy policy;
  const TimestampMs now{1'700'000'000'000};
  (void)state.WhyScanAll(policy, now);
  for (std::uint32_t i = 0; i < state.size(); ++i) {
    (void)Triage(state.partition(i), policy, now);
    (void)PartitionOfKey(state.key(i));
  }
  if (state.size() == 0) return;
  observe::Change change;
  change.snapshot_id = SnapshotId(state.snapshot_id().value_or(SnapshotId(0)).value ^ 1);
  change.parent_id = state.snapshot_id();
  observe::PartitionDelta& delta = change.partitions.emplace_back();
  if (const auto partition = PartitionOfKey(state.key(0))) {
    delta.spec_id = partition->spec_id;
    delta.tuple = partition->tuple;
  }
  delta.removed = {{1000, 1, 0}};
  delta.added = {{std::int64_t{1} << 56, 1, 0}};
  (void)state.Apply(change, policy, now);
}

void Run(ByteView input, bool fix_checksum) {
  Bytes bytes(input.begin(), input.end());
  if (fix_checksum && bytes.size() >= 8) {
    const std::size_t end = bytes.size() - 8;
    StoreLittle(bytes.data() + end, StateChecksum(ByteView(bytes).first(end)));
  }
  auto state = TableState::Parse(bytes, 1000);
  if (!state) return;
  Use(*state);
  const Bytes saved = state->Serialize();
  const auto again = TableState::Parse(saved, 1000);
  if (!again || again->Serialize() != saved) std::abort();
}

}  // namespace
}  // namespace firn::orient

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) firn::orient::Run({data + 1, size - 1}, (data[0] & 1) != 0);
  return 0;
}
