// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

/// A chart of lines as SVG, for curves that a program made.
namespace specdec::examples {

struct chart_line {
    std::string name;
    std::vector<std::array<double, 2>> points; ///< ascending in x
};

struct line_chart {
    std::string title, x, y;
    std::vector<chart_line> lines;

    [[nodiscard]] std::string svg() const {
        double right = 0, top = 0;
        for (const chart_line& line : lines)
            for (const auto& [px, py] : line.points) {
                right = std::max(right, px);
                top = std::max(top, py);
            }
        const double dx = step(right), dy = step(top);
        right = std::max(dx, std::ceil(right / dx) * dx);
        top = std::max(dy, std::ceil(top / dy) * dy);
        const auto at_x = [&](double v) { return left + (width - left - margin) * v / right; };
        const auto at_y = [&](double v) {
            return height - below - (height - below - above) * v / top;
        };

        std::string out = format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
                                 "font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
                                 "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                                 width, height);
        text(out, left, 24, "start", title, 16);
        for (double v = 0; v <= top + dy / 2; v += dy) {
            out +=
                format("<path d=\"M%g %gH%g\" stroke=\"#ddd\"/>\n", left, at_y(v), width - margin);
            text(out, left - 8, at_y(v) + 4, "end", format("%g", v));
        }
        for (double v = 0; v <= right + dx / 2; v += dx)
            text(out, at_x(v), height - below + 20, "middle", format("%g", v));
        text(out, (left + width - margin) / 2, height - 12, "middle", x);
        text(out, left, 46, "start", y);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const char* const color = colors[i % colors.size()];
            out +=
                format("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color);
            for (const auto& [px, py] : lines[i].points)
                out += format("%.1f,%.1f ", at_x(px), at_y(py));
            out += "\"/>\n";
            const double row = height - below - 16 - 18 * static_cast<double>(lines.size() - 1 - i);
            out += format("<rect x=\"%g\" y=\"%g\" width=\"14\" height=\"4\"", left + 14, row - 6);
            out += " fill=\"" + std::string(color) + "\"/>\n";
            text(out, left + 34, row, "start", lines[i].name);
        }
        return out + "</svg>\n";
    }

private:
    static constexpr double width = 720, height = 400, left = 60, margin = 24, above = 60,
                            below = 56;
    static constexpr std::array colors{"#0b6fa4", "#c2571a", "#3a7d34", "#7a4fa3", "#8c6d1f"};

    /// 1, 2 or 5 times a power of ten: about five steps.
    static double step(double most) {
        if (!(most > 0))
            return 1;
        const double power = std::pow(10, std::floor(std::log10(most / 5)));
        const double factor = most / 5 / power;
        return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
    }
    template <class... Values>
    static std::string format(const char* how, Values... values) {
        char buffer[256];
        const int n = std::snprintf(buffer, sizeof buffer, how, values...);
        return {buffer, static_cast<std::size_t>(std::clamp(n, 0, 255))};
    }
    static void text(std::string& out, double x, double y, const char* anchor,
                     std::string_view words, int size = 13) {
        out += format("<text x=\"%g\" y=\"%g\" text-anchor=\"%s\" font-size=\"%d\">", x, y, anchor,
                      size);
        for (const char c : words)
            out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
        out += "</text>\n";
    }
};

} // namespace specdec::examples
