// SPDX-License-Identifier: Apache-2.0
//
// Appends elements. No state beyond the object.
#include "analysis/output/page/svg_writer.h"

#include <cstdint>
#include <cstdio>

#include "analysis/base/xml_text.h"

namespace gpubound {
namespace {

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

}  // namespace

void SvgWriter::Rect(double x, double y, double width, double height, std::string_view fill,
                     std::string_view title, std::string_view attributes) {
  const std::string paint =
      fill.starts_with('#') ? std::string(fill) : "url(#" + std::string(fill) + ")";
  body_ += "<rect x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" width=\"" + Number(width) +
           "\" height=\"" + Number(height) + "\" fill=\"" + paint + "\"";
  if (!attributes.empty()) body_ += " " + std::string(attributes);
  body_ += title.empty() ? "/>\n" : "><title>" + EscapeXml(title) + "</title></rect>\n";
}

void SvgWriter::Line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  body_ += "<line x1=\"" + Number(x1) + "\" y1=\"" + Number(y1) + "\" x2=\"" + Number(x2) +
           "\" y2=\"" + Number(y2) + "\" stroke=\"" + std::string(stroke) +
           "\" stroke-width=\"0.5\"/>\n";
}

void SvgWriter::Text(double x, double y, std::string_view text, Anchor anchor, double size,
                     bool bold) {
  const char* const anchors[] = {"start", "middle", "end"};
  body_ += "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" font-size=\"" + Number(size) +
           "\" text-anchor=\"" + anchors[static_cast<size_t>(anchor)] + "\"" +
           (bold ? " font-weight=\"bold\">" : ">") + EscapeXml(text) + "</text>\n";
}

void SvgWriter::Pattern(std::string_view name, double size, std::string_view ground,
                        const std::vector<Stroke>& strokes) {
  std::string path;
  for (const Stroke& stroke : strokes) {
    path += "M" + Number(stroke.x1) + " " + Number(stroke.y1) + "L" + Number(stroke.x2) + " " +
            Number(stroke.y2);
  }
  const std::string edge = Number(size);
  patterns_ += "<pattern id=\"" + std::string(name) + "\" width=\"" + edge + "\" height=\"" + edge +
               "\" patternUnits=\"userSpaceOnUse\"><rect width=\"" + edge + "\" height=\"" + edge +
               "\" fill=\"" + std::string(ground) + "\"/><path d=\"" + path +
               "\" stroke=\"#000\" stroke-opacity=\"0.55\" stroke-width=\"0.7\" fill=\"none\"/>"
               "</pattern>\n";
}

std::string SvgWriter::Document(double width, double height, std::string_view title,
                                std::string_view attributes) const {
  std::string document =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"" +
      Number(width) + "\" height=\"" + Number(height) + "\" viewBox=\"0 0 " + Number(width) + " " +
      Number(height) +
      "\" font-family=\"Helvetica, Arial, DejaVu Sans, "
      "sans-serif\"";
  if (!attributes.empty()) document += " " + std::string(attributes);
  document += ">\n<title>" + EscapeXml(title) + "</title>\n";
  if (!patterns_.empty()) document += "<defs>\n" + patterns_ + "</defs>\n";
  return document + "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + body_ + "</svg>\n";
}

}  // namespace gpubound
