// SPDX-License-Identifier: Apache-2.0
#include "splice/page_presses.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace firn::splice {
namespace {

std::shared_ptr<PressedPage> PageOf(std::size_t number) {
  auto page = std::make_shared<PressedPage>();
  page->level = 1;
  Bytes body;
  for (std::size_t i = 0; i < 40'000; ++i) body.push_back(static_cast<std::uint8_t>((i * (number + 3)) >> 4));
  page->body.Append(body);
  return page;
}

Bytes CompressedHere(const PressedPage& page) {
  parquet::PageCodecs codecs;
  const Result<ByteView> stored = codecs.Compress(page.codec, page.level, page.body.view());
  EXPECT_TRUE(stored);
  return Bytes(stored->begin(), stored->end());
}

bool Same(const PressedPage& page, const Bytes& bytes) { return std::ranges::equal(page.stored.view(), bytes); }

TEST(PagePressesTest, NobodyIsIdleNobodyGetsAPage) {
  PagePresses presses;
  EXPECT_FALSE(presses.HasRoom());
}

TEST(PagePressesTest, APageThatNobodyBeganIsDoneByItsOwner) {
  PagePresses presses;
  parquet::PageCodecs codecs;
  const auto page = PageOf(1);
  presses.Offer(page);
  ASSERT_TRUE(presses.Take(*page, codecs));
  EXPECT_TRUE(Same(*page, CompressedHere(*page)));
  presses.Close();
  presses.Serve(codecs);  // ends at once, and finds nothing to do
}

TEST(PagePressesTest, OthersCompressTheSameBytes) {
  PagePresses presses;
  std::vector<std::jthread> servers;
  std::vector<parquet::PageCodecs> theirs(3);
  for (parquet::PageCodecs& codecs : theirs) servers.emplace_back([&] { presses.Serve(codecs); });
  parquet::PageCodecs codecs;
  std::size_t handed = 0;
  for (std::size_t round = 0; round < 2000 || handed < 50; ++round) {
    if (!presses.HasRoom()) {
      std::this_thread::yield();
      continue;
    }
    const auto first = PageOf(round), second = PageOf(round + 1);
    presses.Offer(first);
    presses.Offer(second);
    handed += 2;
    ASSERT_TRUE(presses.Take(*first, codecs));
    ASSERT_TRUE(presses.Take(*second, codecs));
    ASSERT_TRUE(Same(*first, CompressedHere(*first)));
    ASSERT_TRUE(Same(*second, CompressedHere(*second)));
    if (handed >= 200) break;
  }
  presses.Close();
  EXPECT_FALSE(presses.HasRoom());
}

TEST(PagePressesTest, AnErrorReachesTheOwner) {
  PagePresses presses;
  parquet::PageCodecs theirs, codecs;
  std::jthread server([&] { presses.Serve(theirs); });
  while (!presses.HasRoom()) std::this_thread::yield();
  const auto page = PageOf(2);
  page->codec = parquet::Codec::kLzo;
  presses.Offer(page);
  const Status taken = presses.Take(*page, codecs);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kUnsupported);
  presses.Close();
}

TEST(PagePressesTest, PagesCanBeTakenAfterClose) {
  PagePresses presses;
  parquet::PageCodecs theirs, codecs;
  std::vector<std::shared_ptr<PressedPage>> pages;
  {
    std::jthread server([&] { presses.Serve(theirs); });
    for (std::size_t i = 0; i < 8; ++i) presses.Offer(pages.emplace_back(PageOf(i)));
    presses.Close();
  }
  for (const auto& page : pages) {
    ASSERT_TRUE(presses.Take(*page, codecs));
    EXPECT_TRUE(Same(*page, CompressedHere(*page)));
  }
}

}  // namespace
}  // namespace firn::splice
