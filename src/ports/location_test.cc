// SPDX-License-Identifier: Apache-2.0
#include "ports/location.h"

#include <gtest/gtest.h>

namespace firn::ports {
namespace {

TEST(Location, Scheme_AndPath_AreTakenWithoutChange) {
  struct Expectation {
    std::string location, scheme;
    std::optional<std::string> path;
  };
  for (const auto& [location, scheme, path] : std::vector<Expectation>{
           {"/a/b", "", "/a/b"},
           {"a/b", "", "a/b"},
           {"file:/a%20b", "file", "/a%20b"},
           {"file:///a//b/", "file", "/a//b/"},
           {"file://localhost/a", "file", "/a"},
           {"file://host/a", "file", std::nullopt},
           {"s3a://b/k", "s3a", std::nullopt},
           {"s3://b/a:c", "s3", std::nullopt},
           {"/p=a:b/f", "", "/p=a:b/f"},
           {"p=a:b/f", "", "p=a:b/f"},
           {"a:b/f", "", "a:b/f"},
           {"://x", "", "://x"},
           {"9a://x", "", "9a://x"},
           {"/x?y=http://z", "", "/x?y=http://z"},
           {"", "", std::nullopt},
       }) {
    EXPECT_EQ(SchemeOf(location), scheme) << location;
    EXPECT_EQ(LocalPathOf(location), path) << location;
  }
}

TEST(Location, Names_AndParents) {
  EXPECT_EQ(FileNameOf("s3://b/d/f.x"), "f.x");
  EXPECT_EQ(FileNameOf("f"), "f");
  EXPECT_EQ(FileNameOf("d/"), "");
  EXPECT_EQ(ParentOf("s3://b/d/f"), "s3://b/d");
  EXPECT_EQ(ParentOf("/f"), "/");
  EXPECT_EQ(ParentOf("f"), "");
  EXPECT_EQ(AsPrefix("/ns/t"), "/ns/t/");
  EXPECT_EQ(AsPrefix("/ns/t/"), "/ns/t/");
  EXPECT_EQ(WithoutSlash("/ns/t//"), "/ns/t");
  EXPECT_EQ(WithoutSlash("/"), "/");
  EXPECT_EQ(Join("/a", "b"), "/a/b");
  EXPECT_EQ(Join("/a/", "b"), "/a/b");
}

TEST(Location, SamePlace_OnlySpellingsOfOnePlace) {
  EXPECT_TRUE(SamePlace("file:/a/b/", "/a/b"));
  EXPECT_TRUE(SamePlace("file:///a", "file:/a"));
  EXPECT_TRUE(SamePlace("s3a://b/k", "s3://b/k/"));
  EXPECT_TRUE(SamePlace("s3n://b/k", "s3a://b/k"));
  EXPECT_FALSE(SamePlace("s3://b/k", "s3://b/k2"));
  EXPECT_FALSE(SamePlace("s3://b/k", "s3://B/k"));
  EXPECT_FALSE(SamePlace("/a", "s3://a"));
  EXPECT_FALSE(SamePlace("file://host/a", "/a"));
}

}  // namespace
}  // namespace firn::ports
