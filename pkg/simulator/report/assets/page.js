"use strict";
(function () {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const height = 270;
  const plots = [];

  function number(value) {
    if (value === null || value === undefined) return "";
    const digits = Math.abs(value) < 100 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
    return value.toFixed(digits);
  }

  function seconds(value) {
    if (value === null || value === undefined) return "";
    if (value < 120) return value.toFixed(0) + " s";
    if (value < 7200) return (value / 60).toFixed(0) + " min";
    if (value < 172800) return (value / 3600).toFixed(0) + " h";
    return (value / 86400).toFixed(0) + " d";
  }

  function axis(label, values) {
    return {
      label: label, labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 },
      values: values,
    };
  }

  function options(chart, width) {
    const series = chart.series.map((line) => ({
      label: line.name,
      stroke: colour(line.colour),
      fill: chart.stacked ? colour(line.colour) : undefined,
      width: chart.stacked ? 0 : 2,
      points: { show: false },
      value: (plot, value, index, at) => number(line.own && at !== null ? line.own[at] : value),
    }));
    const x = chart.logX ? (plot, marks) => marks.map((mark) => (mark === null ? "" : seconds(mark))) : undefined;
    const yAxis = axis(chart.yLabel);
    yAxis.size = 56;
    return {
      width: width, height: height,
      scales: {
        x: { time: false, distr: chart.logX ? 3 : 1 },
        // What is stacked is compared by its height, which must start at nothing.
        y: chart.stacked ? { range: (plot, low, high) => [0, high * 1.05 || 1] } : {},
      },
      axes: [axis(chart.xLabel, x), yAxis],
      series: [{ label: chart.logX ? "time" : "at", value: (plot, value) => (value === null ? "" : chart.logX ? seconds(value) : value + " %") }].concat(series),
      cursor: { sync: chart.logX ? undefined : { key: "arrived" } },
    };
  }

  function draw() {
    const place = document.getElementById("charts");
    plots.splice(0).forEach((plot) => plot.destroy());
    place.replaceChildren();
    // All boxes come first: the width of one depends on how many there are.
    const boxes = charts.map((chart) => {
      const box = document.createElement("div");
      box.className = "chart";
      const title = document.createElement("h2");
      title.textContent = chart.title;
      box.append(title);
      if (chart.hint) {
        const hint = document.createElement("p");
        hint.textContent = chart.hint;
        box.append(hint);
      }
      place.append(box);
      return box;
    });
    charts.forEach((chart, at) => {
      const data = [chart.x].concat(chart.series.map((line) => line.y));
      plots.push(new uPlot(options(chart, boxes[at].clientWidth - 32), data, boxes[at]));
    });
  }

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(draw, 150);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
})();
