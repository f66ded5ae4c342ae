// Occupancy: pods on each node over time, the predecessor's plot.
import { h, clock, empty, field, pick, plural, tip } from "./dom.js";
import { ask } from "./api.js";
import { axis, heat, range, shorten, spans, surface } from "./canvas.js";
import { variable } from "./dom.js";

const labels = 180;

export async function show(context) {
  const { main, filters, remember } = context;
  const map = h("div", { class: "card map", id: "occupancy", tabindex: "0" });
  const scale = h("span", { class: "scale" });
  const lead = h("p", { class: "lead" }, "Pods on each node over time.");
  const order = () => filters.get("order") ?? "name", seconds = () => filters.get("span") ?? "900";
  let data;
  const again = (name) => (value) => { remember(name, value); data = undefined; context.attempt(refresh); };
  const redraw = (name) => (value) => { remember(name, value); draw(); };
  main.append(h("h1", {}, "Occupancy"), lead,
    h("div", { class: "bar" }, field("Node", filters.get("node") ?? "", redraw("node")), pick("Last", spans, seconds(), again("span")),
      pick("Order", [["name", "by name"], ["load", "by load"]], order(), redraw("order")), h("span", { class: "grow" }), scale),
    map);

  async function refresh() {
    data = await ask("occupancy", { namespace: context.namespace, intervals: 120, ...range(seconds()) }, context.signal);
    draw();
  }

  function draw() {
    if (!data) return;
    const rows = rowsOf(data, filters.get("node") ?? "", order());
    lead.textContent = `Pods on ${plural(data.nodes.length, "node")} over time` + (rows.length < data.nodes.length ? `, ${rows.length.toLocaleString()} shown` : "") +
      (data.truncated ? "; there were more pods than could be counted" : "") + ".";
    scale.replaceChildren("0", h("i"), String(data.highest), " pods");
    if (rows.length === 0) return map.replaceChildren(empty("No node matches."));
    const scroll = map.scrollTop;
    map.replaceChildren(...paint(data, rows, map.clientWidth - 34));
    map.scrollTop = scroll;
  }
  await context.every(5000, refresh);
}

/** rowsOf are the nodes to show, each with its counts by interval. */
function rowsOf(data, text, order) {
  const counts = data.nodes.map(() => new Map());
  const load = new Float64Array(data.nodes.length);
  for (const [node, interval, pods] of data.cells) {
    counts[node].set(interval, pods);
    load[node] += pods;
  }
  const collator = new Intl.Collator(undefined, { numeric: true });
  return data.nodes.map((name, i) => ({ name, counts: counts[i], load: load[i] })).filter((row) => row.name.includes(text))
    .sort((a, b) => (order === "load" ? b.load - a.load : 0) || collator.compare(a.name, b.name));
}

/** rowHeight lets few nodes have names beside them and 5,000 fit a few screens. */
const rowHeight = (n) => n <= 40 ? 18 : n <= 150 ? 13 : n <= 600 ? 6 : 3;

function paint(data, rows, width) {
  const height = rowHeight(rows.length), left = height >= 12 ? labels : 0, color = heat();
  const [canvas, context] = surface(width, rows.length * height, `Pods on ${rows.length} nodes in ${data.intervals} intervals`);
  const cell = (width - left) / data.intervals, gap = height >= 6 ? 1 : 0;
  rows.forEach((row, y) => {
    context.fillStyle = color(0);
    context.fillRect(left, y * height, width - left, height - gap);
    for (const [interval, pods] of row.counts) {
      context.fillStyle = color(0.12 + 0.88 * pods / data.highest);
      context.fillRect(left + interval * cell, y * height, cell + 0.5, height - gap);
    }
    if (left > 0) {
      context.fillStyle = variable("--text");
      context.fillText(shorten(context, row.name, left - 10), 0, y * height + height / 2);
    }
  });
  const since = new Date(data.since).getTime(), until = new Date(data.until).getTime();
  canvas.addEventListener("mousemove", (event) => {
    const row = rows[Math.floor(event.offsetY / height)], interval = Math.floor((event.offsetX - left) / cell);
    if (!row || interval < 0 || interval >= data.intervals) return tip();
    tip(`${row.name}\n${clock(since + (until - since) * interval / data.intervals)}: ${plural(row.counts.get(interval) ?? 0, "pod")}`, event);
  });
  canvas.addEventListener("mouseleave", () => tip());
  canvas.addEventListener("click", (event) => {
    const row = rows[Math.floor(event.offsetY / height)];
    if (row) location.hash = "#/timeline?node=" + encodeURIComponent(row.name);
  });
  return [axis(since, until, left, width), canvas];
}
