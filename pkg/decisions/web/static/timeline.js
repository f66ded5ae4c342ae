// Which pod was on which node from when to when.
import { h, clock, empty, field, hue, pick, plural, span, tip, variable } from "./dom.js";
import { ask } from "./api.js";
import { axis, range, shorten, spans, surface } from "./canvas.js";

const labels = 180, lane = 14, atMost = 2000;

export async function show(context) {
  const { main, filters, remember } = context;
  const map = h("div", { class: "card map", id: "timeline", tabindex: "0" });
  const lead = h("p", { class: "lead" });
  const seconds = () => filters.get("span") ?? "900";
  const again = (name) => (value) => { remember(name, value); context.attempt(refresh); };
  main.append(h("h1", {}, "Timeline"), lead,
    h("div", { class: "bar" }, field("Node", filters.get("node") ?? "", again("node")), pick("Last", spans, seconds(), again("span")),
      h("span", { class: "quiet" }, "Colours are owners: a Job, a ReplicaSet …")),
    map);
  async function refresh() {
    const times = range(seconds());
    const { items, truncated } = await ask("stays", { namespace: context.namespace, node: filters.get("node") ?? "", limit: atMost, ...times }, context.signal);
    lead.textContent = items.length === 0 ? "" : `${plural(items.length, "pod")} on ${plural(new Set(items.map((pod) => pod.node)).size, "node")}` +
      (truncated ? `: the first ${atMost} of this span, narrow it by node or namespace` : "") + ".";
    const scroll = map.scrollTop;
    map.replaceChildren(...items.length === 0 ? [empty("No pod was on a node in this span.")] : paint(items, new Date(times.since).getTime(), new Date(times.until).getTime(), map.clientWidth - 34));
    map.scrollTop = scroll;
  }
  await context.every(5000, refresh);
}

/** lanes lays the pods of each node out so that no two overlap. */
function lanes(pods, until) {
  const nodes = new Map();
  for (const pod of pods) {
    const from = new Date(pod.bound || pod.started || pod.created || 0).getTime(), to = pod.ended ? new Date(pod.ended).getTime() : until;
    const free = nodes.get(pod.node) ?? nodes.set(pod.node, []).get(pod.node);
    let i = free.findIndex((one) => one.end <= from);
    if (i < 0) i = free.push({ end: 0, bars: [] }) - 1;
    free[i].bars.push({ pod, from, to: Math.max(to, from) });
    free[i].end = to;
  }
  const collator = new Intl.Collator(undefined, { numeric: true });
  return [...nodes].sort(([a], [b]) => collator.compare(a, b)).flatMap(([node, list]) => list.map((one, i) => ({ node, first: i === 0, bars: one.bars })));
}

function paint(pods, since, until, width) {
  const rows = lanes(pods, until);
  const [canvas, context] = surface(width, rows.length * lane, `${pods.length} pods on their nodes`);
  const x = (at) => labels + (width - labels) * Math.max(0, Math.min(1, (at - since) / (until - since)));
  rows.forEach((row, y) => {
    if (row.first) {
      context.fillStyle = variable("--line");
      context.fillRect(0, y * lane, width, 1);
      context.fillStyle = variable("--text");
      context.fillText(shorten(context, row.node, labels - 10), 0, y * lane + lane / 2 + 1);
    }
    for (const bar of row.bars) {
      context.fillStyle = `hsl(${hue(bar.pod.owner || bar.pod.name)} 55% 55%)`;
      context.fillRect(x(bar.from), y * lane + 2, Math.max(2, x(bar.to) - x(bar.from) - 0.5), lane - 3);
    }
  });
  const at = (event) => {
    const row = rows[Math.floor(event.offsetY / lane)];
    return row?.bars.find((bar) => event.offsetX >= x(bar.from) - 1 && event.offsetX <= Math.max(x(bar.to), x(bar.from) + 3));
  };
  canvas.addEventListener("mousemove", (event) => {
    const bar = at(event);
    canvas.style.cursor = bar ? "pointer" : "";
    if (!bar) return tip();
    const { pod } = bar;
    tip(`${pod.namespace}/${pod.name}\n${pod.owner ? pod.owner + "\n" : ""}on ${pod.node} from ${clock(bar.from)}` +
      (pod.ended ? ` to ${clock(pod.ended)} (${span(bar.to - bar.from)})` : `, ${pod.phase || "there"}`), event);
  });
  canvas.addEventListener("mouseleave", () => tip());
  canvas.addEventListener("click", (event) => {
    const bar = at(event);
    if (bar) location.hash = "#/pod/" + [bar.pod.namespace, bar.pod.name, bar.pod.uid].map(encodeURIComponent).join("/");
  });
  return [axis(since, until, labels, width), canvas];
}
