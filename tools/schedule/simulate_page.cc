#include "tools/schedule/simulate_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/report/line_chart.h"
#include "tools/report/page.h"

namespace tombolo::tools {
namespace {

using report::LineChart;
using report::Section;
using schedule::Point;

/// Every method over time. A curve is smoothed over a tenth of the run, as tables are: within a round islands
/// drift apart and come together, which would hide everything else.
std::string over_time(const std::vector<Outcome>& outcomes, const char* what, double (*value)(const Point&)) {
  LineChart chart{fmt::format("{} over time", what), "simulated time, s", what, {}};
  for (const Outcome& outcome : outcomes) {
    report::Line line{outcome.method.name, {}};
    const double window_s = outcome.points.back().time_s / 10;
    for (const Point& point : outcome.points)
      line.points.emplace_back(
          point.time_s,
          value(mean_point(outcome.points, std::max(point.time_s - window_s, -1.0), point.time_s)));
    chart.lines.push_back(std::move(line));
  }
  return report::line_chart(chart);
}

std::string against_disagreement(const std::vector<Outcome>& outcomes, const char* what,
                                 double (*value)(const Point&)) {
  LineChart chart{fmt::format("{} against D", what), "D, s", what, {}};
  for (const Outcome& outcome : outcomes) {
    report::Line line{outcome.method.name, {}};
    if (std::isfinite(outcome.method.disagreement_s))
      line.points = {{outcome.method.disagreement_s, value(outcome.late)}};
    chart.lines.push_back(std::move(line));
  }
  return report::line_chart(chart);
}

double islands_loss(const Point& point) { return point.islands.loss; }
double mean_loss(const Point& point) { return point.mean_model.loss; }
double islands_accuracy(const Point& point) { return 100 * point.islands.accuracy; }
double mean_accuracy(const Point& point) { return 100 * point.mean_model.accuracy; }

std::string order_text(const std::vector<Outcome>& outcomes) {
  std::string body;
  for (const bool rounds_only : {true, false}) {
    const OrderCheck check = check_order(outcomes, rounds_only);
    if (check.methods < 2) continue;
    body += report::paragraph(
        fmt::format("Rank correlation of D, {} ({}): {:.3f} with the loss of an island, {:.3f} with that of "
                    "the mean model, "
                    "{:.3f} with the distance of islands.",
                    check.of, check.methods, check.islands_loss, check.mean_loss, check.distance));
  }
  const std::vector<Reversal> reversals = find_reversals(outcomes);
  if (reversals.empty()) return body + report::paragraph("Every loss is in the order of D.", "good");
  report::Table table({{"smaller D"}, {"larger D"}, {"smaller loss all the same"}, {"why"}});
  for (const Reversal& reversal : reversals) {
    table.start_row();
    table.cell(reversal.nearer).cell(reversal.farther);
    table.cell(reversal.loss == "islands" ? "of an island" : "of the mean model").cell(reversal.why);
  }
  return body + table.html();
}

std::string method_table(const std::vector<Outcome>& outcomes) {
  using Align = report::Table::Align;
  report::Table table({{"method"},
                       {"D, s", Align::kNumber},
                       {"steps", Align::kNumber},
                       {"loss of an island", Align::kNumber},
                       {"its accuracy", Align::kNumber},
                       {"loss of the mean model", Align::kNumber},
                       {"its accuracy", Align::kNumber},
                       {"how"}});
  for (const Outcome& outcome : outcomes) {
    table.start_row();
    table.cell(outcome.method.name).cell(fmt::format("{:.3f}", outcome.method.disagreement_s));
    table.cell(fmt::format("{}", outcome.steps)).cell(fmt::format("{:.4f}", islands_loss(outcome.late)));
    table.cell(fmt::format("{:.1f} %", islands_accuracy(outcome.late)));
    table.cell(fmt::format("{:.4f}", mean_loss(outcome.late)));
    table.cell(fmt::format("{:.1f} %", mean_accuracy(outcome.late))).cell(outcome.method.note, "cliques");
  }
  return table.html();
}

}  // namespace

Status write_simulation_page(const std::vector<Outcome>& outcomes, const std::string& lead,
                             const std::string& path) {
  report::Page page("Training on islands, simulated", lead);
  page.add(Section{"methods", "How methods did over the last fifth of the time", method_table(outcomes)});
  page.add(Section{"order", "Whether the order is the one that D predicts",
                   order_text(outcomes) + against_disagreement(outcomes, "loss of an island", islands_loss) +
                       against_disagreement(outcomes, "loss of the mean model", mean_loss)});
  page.add(Section{"loss", "Loss over time",
                   over_time(outcomes, "loss of an island", islands_loss) +
                       over_time(outcomes, "loss of the mean model", mean_loss)});
  page.add(Section{"accuracy", "Accuracy over time",
                   over_time(outcomes, "accuracy of an island, %", islands_accuracy) +
                       over_time(outcomes, "accuracy of the mean model, %", mean_accuracy)});
  return page.write(path);
}

}  // namespace tombolo::tools
