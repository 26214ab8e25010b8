// SPDX-License-Identifier: Apache-2.0
//
// Objects, their offsets, and a table of these:
//
//   1 catalogue   2 pages   3 the page   4 its content   5, 6 fonts   7 information   8 ... tiles
//
// A page's y points up, a figure's down: the content begins with a transformation that turns it
// over, and text and tiles are turned back. No state.
#include "analysis/output/page/pdf_writer.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "analysis/base/utf8.h"
#include "analysis/output/page/helvetica.h"

namespace gpubound {
namespace {

constexpr size_t kFirstTile = 8;
constexpr uint32_t kEllipsis = 0x2026;
// Strokes of a tile are black at 55 %.
constexpr double kStrokeLeaves = 0.45;

std::string Number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f ", value);
  return text.data();
}

// Operands of a colour "#rrggbb", each multiplied by |factor|.
std::string Color(std::string_view color, double factor = 1) {
  const long rgb = std::strtol(std::string(color.substr(1)).c_str(), nullptr, 16);
  std::string text;
  for (const int shift : {16, 8, 0}) {
    std::array<char, 32> part;
    std::snprintf(part.data(), part.size(), "%.4f ",
                  static_cast<double>((rgb >> shift) & 0xff) / 255 * factor);
    text += part.data();
  }
  return text;
}

// |text| with what Latin 1 lacks, but for an ellipsis, as \uXXXX.
std::string InLatin1(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::optional<Utf8Character> character = FirstCharacter(text);
    const uint32_t code = character ? character->code : 0xfffd;
    const size_t bytes = character ? character->bytes : 1;
    const bool known = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0x100);
    if (known || code == kEllipsis) {
      shown += text.substr(0, bytes);
    } else {
      std::array<char, 16> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
      shown += escape.data();
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

// What InLatin1() made, as a string of PDF in WinAnsiEncoding.
std::string Literal(std::string_view text) {
  std::string literal = "(";
  while (!text.empty()) {
    const Utf8Character character = *FirstCharacter(text);
    const uint32_t code = character.code == kEllipsis ? 0x85 : character.code;
    if (code == '(' || code == ')' || code == '\\') literal += '\\';
    if (code < 0x80) {
      literal += static_cast<char>(code);
    } else {
      std::array<char, 16> octal;
      std::snprintf(octal.data(), octal.size(), "\\%03o", code);
      literal += octal.data();
    }
    text.remove_prefix(character.bytes);
  }
  return literal + ")";
}

std::string Stream(const std::string& dictionary, const std::string& content) {
  return "<<" + dictionary + "/Length " + std::to_string(content.size()) + ">>\nstream\n" +
         content + "\nendstream";
}

std::string Font(const char* name) {
  return std::string("<</Type/Font/Subtype/Type1/BaseFont/") + name + "/Encoding/WinAnsiEncoding>>";
}

std::string Reference(size_t object) { return std::to_string(object) + " 0 R"; }

// The file of |objects|, which are numbered from one.
std::string FileOf(const std::vector<std::string>& objects) {
  // Bytes beyond ASCII in the second line say that the file is binary, and the word whose it is.
  std::string file = "%PDF-1.4\n%\xe2\xe3\xcf\xd3 gpubound\n";
  std::string table = "xref\n0 " + std::to_string(objects.size() + 1) + "\n0000000000 65535 f \n";
  for (size_t i = 0; i < objects.size(); ++i) {
    std::array<char, 32> entry;
    std::snprintf(entry.data(), entry.size(), "%010zu 00000 n \n", file.size());
    table += entry.data();
    file += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const std::string begin = std::to_string(file.size());
  return file + table + "trailer\n<</Size " + std::to_string(objects.size() + 1) +
         "/Root 1 0 R/Info 7 0 R>>\nstartxref\n" + begin + "\n%%EOF\n";
}

}  // namespace

void PdfWriter::Pattern(std::string_view name, double size, std::string_view ground,
                        const std::vector<Stroke>& strokes) {
  std::string content = Color(ground) + "rg 0 0 " + Number(size) + Number(size) + "re f\n" +
                        Color(ground, kStrokeLeaves) + "RG 0.7 w\n";
  for (const Stroke& stroke : strokes) {
    content += Number(stroke.x1) + Number(stroke.y1) + "m " + Number(stroke.x2) +
               Number(stroke.y2) + "l S\n";
  }
  tiles_.push_back({std::string(name), size, std::move(content)});
}

void PdfWriter::Rect(double x, double y, double width, double height, std::string_view fill,
                     std::string_view /*title*/, std::string_view /*attributes*/) {
  body_ +=
      fill.starts_with('#') ? Color(fill) + "rg " : "/Pattern cs /" + std::string(fill) + " scn ";
  body_ += Number(x) + Number(y) + Number(width) + Number(height) + "re f\n";
}

void PdfWriter::Line(double x1, double y1, double x2, double y2, std::string_view stroke) {
  body_ += Color(stroke) + "RG 0.5 w " + Number(x1) + Number(y1) + "m " + Number(x2) + Number(y2) +
           "l S\n";
}

void PdfWriter::Text(double x, double y, std::string_view text, Anchor anchor, double size,
                     bool bold) {
  const std::string shown = InLatin1(text);
  const double shares[] = {0, 0.5, 1};
  const double left = x - shares[static_cast<size_t>(anchor)] * HelveticaWidth(shown, size);
  body_ += "BT 0 0 0 rg /" + std::string(bold ? "B " : "F ") + Number(size) + "Tf 1 0 0 -1 " +
           Number(left) + Number(y) + "Tm " + Literal(shown) + " Tj ET\n";
}

std::string PdfWriter::Document(double width, double height, std::string_view title,
                                std::string_view /*attributes*/) const {
  const std::string turned = "1 0 0 -1 0 " + Number(height);
  std::vector<std::string> objects = {
      "<</Type/Catalog/Pages 2 0 R>>",
      "<</Type/Pages/Kids[3 0 R]/Count 1>>",
      "",
      Stream("", turned + "cm\n" + body_),
      Font("Helvetica"),
      Font("Helvetica-Bold"),
      "<</Title" + Literal(InLatin1(title)) + "/Producer(gpubound)>>"};
  std::string patterns;
  for (size_t i = 0; i < tiles_.size(); ++i) {
    const std::string edge = Number(tiles_[i].size);
    patterns += "/" + tiles_[i].name + " " + Reference(kFirstTile + i);
    objects.push_back(Stream("/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 " +
                                 edge + edge + "]/XStep " + edge + "/YStep " + edge + "/Matrix[" +
                                 turned + "]/Resources<<>>",
                             tiles_[i].content));
  }
  objects[2] = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 " + Number(width) + Number(height) +
               "]/Contents 4 0 R/Resources<</Font<</F 5 0 R/B 6 0 R>>/Pattern<<" + patterns +
               ">>>>>>";
  return FileOf(objects);
}

}  // namespace gpubound
