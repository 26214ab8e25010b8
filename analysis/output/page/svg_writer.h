// SPDX-License-Identifier: Apache-2.0
//
// A small writer of SVG: rectangles, lines and text at two decimals, so that the same picture is
// the same bytes everywhere. Plain value.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_SVG_WRITER_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_SVG_WRITER_H_

#include <string>
#include <string_view>
#include <vector>

#include "analysis/output/page/drawing.h"

namespace gpubound {

class SvgWriter : public Drawing {
 public:
  void Pattern(std::string_view name, double size, std::string_view ground,
               const std::vector<Stroke>& strokes) override;
  void Rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view title, std::string_view attributes) override;
  void Line(double x1, double y1, double x2, double y2, std::string_view stroke) override;
  void Text(double x, double y, std::string_view text, Anchor anchor, double size,
            bool bold) override;
  std::string Document(double width, double height, std::string_view title,
                       std::string_view attributes) const override;

 private:
  std::string patterns_;
  std::string body_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_SVG_WRITER_H_
