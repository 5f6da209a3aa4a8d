// SPDX-License-Identifier: Apache-2.0
#include "ports/deferred_catalog.h"

#include <gtest/gtest.h>

namespace firn::ports {
namespace {

class OneTable final : public Catalog {
 public:
  const std::string& name() const override { return name_; }
  Result<LoadedTable> LoadTable(const TableIdentifier&) override { return Error{Code::kNotFound, "no"}; }
  Result<LoadedTable> CommitTable(const LoadedTable&, const TableCommit&) override {
    return Error{Code::kConflict, "no"};
  }
  Status CheckWritable(const LoadedTable&) const override { return Error{Code::kUnsupported, "read only"}; }
  bool SwapsNames() const override { return true; }
  Result<std::vector<TableIdentifier>> ListTables() override { return std::vector<TableIdentifier>{{{"db"}, "t"}}; }
  Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable&) override { return Error{Code::kUnsupported, "no"}; }

 private:
  std::string name_ = "real";
};

TEST(DeferredCatalogTest, IsThere_AsSoonAsItAnswers_AndIsOpenedOnce) {
  int tries = 0;
  DeferredCatalog catalog("c", [&]() -> Result<std::shared_ptr<Catalog>> {
    if (++tries < 3) return Error{Code::kUnavailable, "down"};
    return std::shared_ptr<Catalog>(std::make_shared<OneTable>());
  });
  EXPECT_EQ(catalog.name(), "c");
  EXPECT_EQ(tries, 0);
  EXPECT_EQ(catalog.ListTables().error().code, Code::kUnavailable);
  EXPECT_EQ(catalog.LoadTable({{"db"}, "t"}).error().code, Code::kUnavailable);
  ASSERT_TRUE(catalog.ListTables().has_value());
  EXPECT_EQ(catalog.LoadTable({{"db"}, "t"}).error().code, Code::kNotFound);
  EXPECT_EQ(catalog.CheckWritable({}).error().code, Code::kUnsupported);
  EXPECT_TRUE(catalog.SwapsNames());
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace firn::ports
