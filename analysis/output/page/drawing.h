// SPDX-License-Identifier: Apache-2.0
//
// What a figure is drawn with: rectangles, lines and text, in points from the top left. A figure is
// drawn once, whatever it is written as. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_DRAWING_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_DRAWING_H_

#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

class Drawing {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };
  struct Stroke {
    double x1, y1, x2, y2;
  };

  virtual ~Drawing() = default;

  // A square tile of |size| that fills with the colour |ground| and has |strokes| over it.
  virtual void Pattern(std::string_view name, double size, std::string_view ground,
                       const std::vector<Stroke>& strokes) = 0;
  // |fill|: a colour "#rrggbb" or the name of a pattern. Where the format has such things, |title|
  // shows on hover and |attributes| are put in as they are.
  virtual void Rect(double x, double y, double width, double height, std::string_view fill,
                    std::string_view title, std::string_view attributes) = 0;
  virtual void Line(double x1, double y1, double x2, double y2, std::string_view stroke) = 0;
  // |x| is where the text begins, its middle or its end; |y| its base line.
  virtual void Text(double x, double y, std::string_view text, Anchor anchor, double size,
                    bool bold) = 0;
  // The whole document; |attributes| go to its root.
  virtual std::string Document(double width, double height, std::string_view title,
                               std::string_view attributes) const = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_DRAWING_H_
