// SPDX-License-Identifier: Apache-2.0
//
// Tells which partitions a condition selects: every partition that may hold a matching row, as a whole.
//
// In: a condition on columns and partition texts ("day=2024-01-01"), the table's schema and specs.
// Out: yes or no for a spec and a tuple.
// Guarantees: inclusive: a partition with a matching row is never left out. A condition on a column from which no
//   partition is made is an error, not "everything": maintenance works on whole partitions. Files of older specs
//   that do not have the column's field are selected. A manifest is left out only if no tuple inside the ranges of its
//   line in the manifest list is selected.
// Cost: O(tests) a partition or manifest.
// Errors: kInvalidArgument naming the column or the literal.
// Threads: immutable after Make().
// Source: Iceberg table spec, "Scan Planning" (inclusive projection), Appendix E for time transforms of writers that
//   rounded values before 1970 towards zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/where.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::decide {

class PartitionSelection {
 public:
  /// `where` may be null. `partitions`: texts of one or more "field=value" joined by '/', any of which selects.
  static Result<PartitionSelection> Make(const Where* where, const std::vector<std::string>& partitions,
                                         iceberg::MetadataPtr metadata);

  bool selects_everything() const { return nodes_.empty() && partitions_.empty(); }
  bool Matches(SpecId spec_id, const iceberg::PartitionTuple& tuple) const;
  /// Whether it may select an entry of the manifest, by its line in the manifest list.
  bool MayMatch(const iceberg::ManifestFile& manifest) const;

 private:
  /// A condition without NOT, bound to field ids and typed literals. Children are indexes into nodes_.
  struct Node {
    Where::Kind kind = Where::Kind::kConstant;
    std::vector<std::uint32_t> children;
    FieldId source_id = 0;
    iceberg::Type type;
    WhereTest test = WhereTest::kEqual;
    std::vector<iceberg::Literal> literals;
    bool constant = true;
  };
  struct FieldText {
    std::string field, value;
  };

  explicit PartitionSelection(iceberg::MetadataPtr metadata) : metadata_(std::move(metadata)) {}
  Result<std::uint32_t> Bind(const Where& where, bool negated);
  Result<std::uint32_t> BindTest(const Where& where, bool negated);
  Result<const iceberg::Field*> FindSource(const std::string& column) const;
  Status AddPartition(const std::string& text);
  /// `values`: literals of a tuple, or ranges of a manifest; has_text(text, place of its field).
  template <class Values, class HasText>
  bool Selects(const iceberg::PartitionSpec& spec, const Values& values, HasText has_text) const;
  template <class Values>
  bool NodeSelects(std::uint32_t node, const iceberg::PartitionSpec& spec, const Values& values) const;
  iceberg::Type SourceType(const iceberg::PartitionField& field) const;

  iceberg::MetadataPtr metadata_;
  std::vector<Node> nodes_;  // the root is the last one
  std::vector<std::vector<FieldText>> partitions_;
};

}  // namespace firn::decide
