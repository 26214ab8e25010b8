// SPDX-License-Identifier: Apache-2.0
//
// A small writer of SVG: rectangles, lines and text at two decimals, in points from the top left,
// so that the same picture is the same bytes everywhere. Plain value.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_SVG_WRITER_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_SVG_WRITER_H_

#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

class SvgWriter {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };
  struct Stroke {
    double x1, y1, x2, y2;
  };

  // A square tile of |size| that fills with the colour |ground| and has |strokes| over it.
  void Pattern(std::string_view name, double size, std::string_view ground,
               const std::vector<Stroke>& strokes);
  // |fill|: a colour "#rrggbb" or the name of a pattern. |title| shows on hover, |attributes| are
  // put in as they are.
  void Rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view title, std::string_view attributes);
  void Line(double x1, double y1, double x2, double y2, std::string_view stroke);
  // |x| is where the text begins, its middle or its end; |y| its base line.
  void Text(double x, double y, std::string_view text, Anchor anchor, double size, bool bold);
  // The whole document; |attributes| go to its root.
  std::string Document(double width, double height, std::string_view title,
                       std::string_view attributes) const;

 private:
  std::string patterns_;
  std::string body_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_SVG_WRITER_H_
