// SPDX-License-Identifier: Apache-2.0
//
// Adobe's metrics of Helvetica, in thousandths of the size. The test of figures holds them against
// those of a PDF reader. No state.
#include "analysis/output/page/helvetica.h"

#include <optional>

#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

constexpr int kWidest = 1000;
// From the space on, then from the no-break space on.
constexpr int16_t kAscii[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr int16_t kLatin1[] = {
    278, 333, 556, 556, 556, 556, 260,  556, 333, 737, 370, 556, 584, 333, 737, 333,
    400, 584, 333, 333, 333, 556, 537,  278, 333, 333, 365, 556, 834, 834, 834, 611,
    667, 667, 667, 667, 667, 667, 1000, 722, 667, 667, 667, 667, 278, 278, 278, 278,
    722, 722, 778, 778, 778, 778, 778,  584, 778, 722, 722, 722, 722, 667, 667, 611,
    556, 556, 556, 556, 556, 556, 889,  500, 556, 556, 556, 556, 278, 278, 278, 278,
    556, 556, 556, 556, 556, 556, 556,  584, 611, 556, 556, 556, 556, 500, 556, 500};

int WidthOf(uint32_t code) {
  if (code >= 0x20 && code < 0x7f) return kAscii[code - 0x20];
  if (code >= 0xa0 && code < 0x100) return kLatin1[code - 0xa0];
  return kWidest;
}

}  // namespace

double HelveticaWidth(std::string_view text, double size) {
  int width = 0;
  while (!text.empty()) {
    const std::optional<Utf8Character> character = FirstCharacter(text);
    width += character ? WidthOf(character->code) : kWidest;
    text.remove_prefix(character ? character->bytes : 1);
  }
  return width * size / 1000;
}

}  // namespace gpubound
