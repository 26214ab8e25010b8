// SPDX-License-Identifier: Apache-2.0
//
// Appends elements. No state beyond the object.
#include "analysis/svg_writer.h"

#include <cstdint>
#include <cstdio>

namespace gpubound {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

// Length of the UTF-8 character at |text|, 0 where there is none that XML 1.0 can hold.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  uint32_t code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool never = code == 0xfffe || code == 0xffff || code > 0x10ffff;
  return code < kSmallest[length] || surrogate || never ? 0 : length;
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    switch (text.front()) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += length == 0 ? kReplacement : text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

void SvgWriter::Rect(double x, double y, double width, double height, std::string_view fill,
                     std::string_view title, std::string_view attributes) {
  body_ += "<rect x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" width=\"" + Number(width) +
           "\" height=\"" + Number(height) + "\" fill=\"" + std::string(fill) + "\"";
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
                        std::string_view path) {
  const std::string edge = Number(size);
  patterns_ += "<pattern id=\"" + std::string(name) + "\" width=\"" + edge + "\" height=\"" + edge +
               "\" patternUnits=\"userSpaceOnUse\"><rect width=\"" + edge + "\" height=\"" + edge +
               "\" fill=\"" + std::string(ground) + "\"/><path d=\"" + std::string(path) +
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
