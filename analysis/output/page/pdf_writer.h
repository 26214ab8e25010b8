// SPDX-License-Identifier: Apache-2.0
//
// A small writer of PDF 1.4: one page of vectors and of text that can be searched. The font is
// Helvetica, which every reader has, so none is in the file. The same picture is the same bytes
// everywhere. Plain value.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_PDF_WRITER_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_PDF_WRITER_H_

#include <string>
#include <string_view>
#include <vector>

#include "analysis/output/page/drawing.h"

namespace gpubound {

class PdfWriter : public Drawing {
 public:
  void Pattern(std::string_view name, double size, std::string_view ground,
               const std::vector<Stroke>& strokes) override;
  // The format has neither titles nor attributes.
  void Rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view title, std::string_view attributes) override;
  void Line(double x1, double y1, double x2, double y2, std::string_view stroke) override;
  // Characters that the font does not have are written as \u and their number.
  void Text(double x, double y, std::string_view text, Anchor anchor, double size,
            bool bold) override;
  std::string Document(double width, double height, std::string_view title,
                       std::string_view attributes) const override;

 private:
  struct Tile {
    std::string name;
    double size;
    std::string content;
  };
  std::vector<Tile> tiles_;
  std::string body_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_PDF_WRITER_H_
