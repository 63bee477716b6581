#include "tools/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kHeightPx = 240;
constexpr double kTopPx = 26;     // Room for the ratio above the highest bar.
constexpr double kBottomPx = 34;  // Room for the labels below the axis.
constexpr double kLeftPx = 62;
constexpr double kRightPx = 12;
constexpr double kMostWidthPx = 1120;
constexpr double kMostSlotPx = 74;
constexpr double kLeastWidthPx = 260;
constexpr double kReadableSlotPx = 34;  // Narrower slots carry no figures.

/// Decimals with which the ticks of an axis differ.
int decimals_for(double step) {
  return step <= 0 ? 0 : std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
}

std::string svg_text(double x, double y, const char* css_class, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", css_class, format_coordinate(x),
                     format_coordinate(y), escape_html(text));
}

std::string svg_rect(double x, double y, double width, double height, const std::string& css_class,
                     const std::string& tip) {
  return fmt::format("<rect class=\"{}\" data-tip=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                     css_class, escape_html(tip), format_coordinate(x), format_coordinate(y),
                     format_coordinate(width), format_coordinate(height));
}

std::string bar_tip(const TimeBar& bar) {
  std::string tip = fmt::format("{}\nmeasured {} s\npredicted {} s", bar.label,
                                format_fixed(bar.measured_s, 3), format_fixed(bar.predicted_s, 3));
  if (bar.measured_s && bar.predicted_s && *bar.predicted_s > 0)
    tip += fmt::format("\nratio {:.3f}", *bar.measured_s / *bar.predicted_s);
  return tip;
}

/// One bar in its slot; `to_y` turns seconds into a height in the drawing.
template <typename ToY>
std::string draw_bar(const TimeBar& bar, double left, double slot, const ToY& to_y) {
  const double width = std::max(slot * 0.62, std::min(slot, 1.0));
  const double x = left + (slot - width) / 2;
  const double floor = to_y(0);
  std::string out;
  if (bar.measured_s) {
    const double top = to_y(*bar.measured_s);
    out += svg_rect(x, top, width, floor - top, bar.good ? "bar" : "bar wrong", bar_tip(bar));
  } else {
    out += svg_text(left + slot / 2, floor - 6, "figure wrong", "\u2715");
  }
  if (bar.predicted_s) {
    const double y = to_y(*bar.predicted_s);
    const double reach = slot >= kReadableSlotPx ? 5 : 0;
    out += fmt::format("<line class=\"predicted\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                       format_coordinate(x - reach), format_coordinate(x + width + reach),
                       format_coordinate(y), format_coordinate(y));
  }
  if (slot >= kReadableSlotPx && bar.measured_s && bar.predicted_s && *bar.predicted_s > 0) {
    const double top = to_y(std::max(*bar.measured_s, *bar.predicted_s));
    out += svg_text(left + slot / 2, top - 7, "figure",
                    fmt::format("\u00d7{:.2f}", *bar.measured_s / *bar.predicted_s));
  }
  return out;
}

}  // namespace

std::vector<double> axis_ticks(double most, int count) {
  if (!(most > 0) || !std::isfinite(most)) return {0, 1};
  const double raw = most / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  std::vector<double> ticks{0};
  while (ticks.back() < most * (1 - 1e-9)) ticks.push_back(step * static_cast<double>(ticks.size()));
  return ticks;
}

std::string time_chart(const std::vector<TimeBar>& bars) {
  if (bars.empty()) return {};
  double most = 0;
  for (const TimeBar& bar : bars)
    most = std::max({most, bar.measured_s.value_or(0), bar.predicted_s.value_or(0)});
  const auto count = static_cast<double>(bars.size());
  const double room = kMostWidthPx - kLeftPx - kRightPx;
  const double slot = std::min(kMostSlotPx, room / count);
  const double width = std::max(kLeastWidthPx, kLeftPx + kRightPx + slot * count);
  const std::vector<double> ticks = axis_ticks(most, 4);
  const auto to_y = [&](double seconds) {
    return kHeightPx - kBottomPx - seconds / ticks.back() * (kHeightPx - kBottomPx - kTopPx);
  };
  std::string out = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"Round times, measured and predicted\">\n",
      format_coordinate(width), format_coordinate(kHeightPx));
  for (const double tick : ticks) {
    const double y = to_y(tick);
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                       format_coordinate(kLeftPx - 4), format_coordinate(width - kRightPx),
                       format_coordinate(y), format_coordinate(y));
    out += svg_text(kLeftPx - 9, y + 4, "axis end", fmt::format("{:.{}f} s", tick, decimals_for(ticks[1])));
  }
  // As many labels as there is room for.
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(kReadableSlotPx / slot)));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double left = kLeftPx + slot * static_cast<double>(i);
    out += draw_bar(bars[i], left, slot, to_y);
    if (i % every == 0) out += svg_text(left + slot / 2, kHeightPx - kBottomPx + 16, "axis", bars[i].label);
  }
  out += svg_text((kLeftPx + width - kRightPx) / 2, kHeightPx - 3, "axis", "round");
  return out + "</svg>\n";
}

std::string amount_chart(const std::vector<AmountGroup>& groups, const std::string& unit) {
  constexpr double kLabelPx = 218;
  constexpr double kBarLabelPx = 30;
  constexpr double kBarPx = 17;
  constexpr double kStepPx = 20;
  constexpr double kGroupGapPx = 14;
  constexpr double kFigurePx = 86;
  constexpr double kWidthPx = 540;
  double most = 0;
  double height = 4;
  for (const AmountGroup& group : groups) {
    for (const AmountBar& bar : group.bars) most = std::max(most, bar.amount.value_or(0));
    height += kStepPx * static_cast<double>(group.bars.size()) + kGroupGapPx;
  }
  const double left = kLabelPx + kBarLabelPx;
  const double px_per_unit = most > 0 ? (kWidthPx - left - kFigurePx) / most : 0;
  std::string out = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"Bytes per island\">\n<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect class=\"hatch-back\" "
      "width=\"6\" "
      "height=\"6\"/><rect class=\"hatch-line\" width=\"2.5\" height=\"6\"/></pattern></defs>\n",
      format_coordinate(kWidthPx), format_coordinate(height));
  double y = 4;
  for (const AmountGroup& group : groups) {
    out += svg_text(0, y + 13, group.emphasised ? "group strong" : "group", group.label);
    if (!group.note.empty()) out += svg_text(0, y + 13 + 17, "group-note", group.note);
    for (const AmountBar& bar : group.bars) {
      const double width = bar.amount.value_or(0) * px_per_unit;
      const std::string figure = bar.amount ? format_fixed(bar.amount, 2) + " " + unit : format_fixed({}, 0);
      out += svg_text(left - 8, y + 13, "axis end", bar.label);
      out += svg_rect(
          left, y, std::max(width, 1.0), kBarPx, group.computed ? "bar computed" : "bar",
          group.label + ", " + bar.label + "\n" + figure + (group.computed ? "\ncomputed" : "\nmeasured"));
      out += svg_text(left + std::max(width, 1.0) + 6, y + 13, "figure start", figure);
      y += kStepPx;
    }
    y += kGroupGapPx;
  }
  return out + "</svg>\n";
}

std::string share_bar(const std::vector<double>& amounts, const std::vector<std::string>& classes) {
  constexpr double kSharePx = 260;
  double sum = 0;
  for (const double amount : amounts) sum += amount;
  std::string out =
      "<svg class=\"share\" width=\"260\" height=\"12\" viewBox=\"0 0 260 12\" aria-hidden=\"true\">";
  double x = 0;
  for (std::size_t i = 0; i < amounts.size() && sum > 0; ++i) {
    const double width = amounts[i] / sum * kSharePx;
    out += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"0\" width=\"{}\" height=\"12\"/>", classes[i],
                       format_coordinate(x), format_coordinate(width));
    x += width;
  }
  return out + "</svg>";
}

}  // namespace tombolo::report
