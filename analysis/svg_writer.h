// SPDX-License-Identifier: Apache-2.0
//
// A small writer of SVG: rectangles, lines and text at two decimals, so that the same picture is
// the same bytes everywhere. Plain value.
#ifndef GPUBOUND_ANALYSIS_SVG_WRITER_H_
#define GPUBOUND_ANALYSIS_SVG_WRITER_H_

#include <string>
#include <string_view>

namespace gpubound {

class SvgWriter {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  // |fill|: a colour or "url(#NAME)". |attributes| is put in as it is; |title| shows on hover.
  void Rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view title = {}, std::string_view attributes = {});
  void Line(double x1, double y1, double x2, double y2, std::string_view stroke);
  void Text(double x, double y, std::string_view text, Anchor anchor = Anchor::kStart,
            double size = 10, bool bold = false);
  // A square tile of |size| that fills with |ground| and draws |path| over it.
  void Pattern(std::string_view name, double size, std::string_view ground, std::string_view path);

  // The whole document; |attributes| go to the root.
  std::string Document(double width, double height, std::string_view title,
                       std::string_view attributes = {}) const;

 private:
  std::string patterns_;
  std::string body_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SVG_WRITER_H_
