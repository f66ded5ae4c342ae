// Throughput and latency over time, drawn by uPlot, which is loaded when this view is first shown.
import { h, clock, empty, pick, span, variable } from "./dom.js";
import { ask } from "./api.js";
import { range, spans } from "./canvas.js";

let library;

function load() {
  library ??= new Promise((resolve, reject) => {
    document.head.append(h("link", { rel: "stylesheet", href: "uplot.css" }));
    const script = h("script", { src: "uplot.js", onload: () => resolve(globalThis.uPlot), onerror: () => reject(new Error("The charts could not be loaded.")) });
    document.head.append(script);
  });
  return library;
}

export async function show(context) {
  const { main, filters, remember } = context;
  const uPlot = await load();
  const seconds = () => filters.get("span") ?? "900";
  const charts = ["Attempts a second", "How long attempts took", "How long pods waited in the queue"].map((title) => {
    const place = h("div", { class: "chart" });
    return { place, card: h("section", { class: "card" }, h("h2", {}, title), place) };
  });
  const nothing = empty("No attempts in this span.");
  main.append(h("h1", {}, "Throughput"), h("p", { class: "lead" }, "Attempts by outcome, and how long they and the waits before them took."),
    h("div", { class: "bar" }, pick("Last", spans, seconds(), (value) => { remember("span", value); context.attempt(refresh); })),
    nothing, ...charts.map((chart) => chart.card));

  async function refresh() {
    const times = range(seconds()), step = Math.max(10, Math.ceil(Number(seconds()) / 300 / 10) * 10);
    const rates = await ask("rates", { namespace: context.namespace, stepSeconds: step, ...times }, context.signal);
    nothing.hidden = rates.items.length > 0;
    for (const chart of charts) chart.card.hidden = rates.items.length === 0;
    if (rates.items.length > 0) draw(rates, new Date(times.since).getTime() / 1000, new Date(times.until).getTime() / 1000);
  }

  function draw(rates, since, until) {
    const x = [], by = new Map(rates.items.map((rate) => [Math.floor(new Date(rate.time).getTime() / 1000 / rates.stepSeconds), rate]));
    // The span that is not over yet would look like a fall.
    for (let i = Math.floor(since / rates.stepSeconds); (i + 1) * rates.stepSeconds <= until; i++) x.push(i);
    const column = (f, missing) => x.map((i) => by.has(i) ? f(by.get(i)) : missing);
    const times = x.map((i) => i * rates.stepSeconds);
    const outcomes = [["Bound", "--good"], ["Unschedulable", "--warn"], ["Error", "--bad"]];
    const latency = (name) => [times, column((rate) => rate[name + "P50Ms"], null), column((rate) => rate[name + "P99Ms"], null)];
    const pair = [["median", "--accent"], ["99th percentile", "--warn"]];
    plot(charts[0], [times, ...outcomes.map(([name]) => column((rate) => (rate.count[name] ?? 0) / rates.stepSeconds, 0))], outcomes, (n) => n === null ? "–" : n.toFixed(n < 10 ? 1 : 0) + "/s");
    plot(charts[1], latency("attempt"), pair, (n) => n === null ? "–" : span(n));
    plot(charts[2], latency("queue"), pair, (n) => n === null ? "–" : span(n));
  }

  function plot(chart, data, series, format) {
    const width = chart.card.clientWidth - 34;
    if (chart.plot && chart.plot.width === width) return chart.plot.setData(data);
    chart.plot?.destroy();
    const lines = { stroke: variable("--quiet"), grid: { stroke: variable("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    chart.plot = new uPlot({
      width, height: 220, padding: [null, 28, null, null], cursor: { points: { size: 6 } },
      axes: [{ ...lines, values: (_, splits) => splits.map((seconds_) => clock(seconds_ * 1000)) }, { ...lines, size: 70, values: (_, splits) => splits.map(format) }],
      scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.1, 0.1)] } },
      series: [{ value: (_, seconds_) => seconds_ === null ? "–" : clock(seconds_ * 1000) }, ...series.map(([label, color]) => ({
        label, stroke: variable(color), width: 2, value: (_, n) => format(n), points: { show: false }, spanGaps: true,
      }))],
    }, data, chart.place);
  }
  const resized = () => { if (!context.signal.aborted) context.attempt(refresh); };
  addEventListener("resize", resized, { signal: context.signal });
  await context.every(5000, refresh);
}
