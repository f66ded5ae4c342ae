// Delays between nodes and bandwidth of their disks, where agents report them and the reader may list the reports.
import { h, bytes, clock, empty, plural, tip, variable } from "./dom.js";
import { ask } from "./api.js";
import { heat, shorten, surface } from "./canvas.js";

const labels = 150, disksAtOnce = 300;

export async function show(context) {
  const network = h("section", { class: "card" }), disks = h("section", { class: "card" });
  context.main.append(h("h1", {}, "Network and disks"), h("p", { class: "lead" }, "What agents measure on nodes."), network, disks);
  await context.every(10000, async () => {
    await section(network, "Round-trip times", () => ask("delays", {}, context.signal), "No agent reports round-trip times (NodeRTT).", delays);
    await section(disks, "Disks", () => ask("disks", {}, context.signal), "No disk is described (NodeDiskDevice).", table);
  });
}

async function section(place, title, question, nothing, draw) {
  let content;
  try {
    const { items } = await question();
    content = items.length === 0 ? h("p", { class: "quiet" }, nothing) : draw(items, place.clientWidth - 34);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    content = h("p", { class: "quiet" }, error.message);
  }
  place.replaceChildren(h("h2", {}, title), ...[content].flat());
}

/** delays is a matrix: from the node of the row to that of the column. */
function delays(items, width) {
  const collator = new Intl.Collator(undefined, { numeric: true });
  const nodes = [...new Set(items.flatMap((delay) => [delay.from, delay.to]))].sort(collator.compare);
  const index = new Map(nodes.map((name, i) => [name, i]));
  const cell = Math.max(2, Math.min(26, (width - labels) / nodes.length)), named = cell >= 12;
  const left = named ? labels : 0, longest = Math.max(...items.map((delay) => delay.p50Us), 1);
  // Delays differ by orders of magnitude: equal ratios get equal steps.
  const shortest = Math.min(longest, ...items.map((delay) => delay.p50Us).filter((us) => us > 0));
  const shade = (us) => 0.1 + 0.9 * Math.log(us / shortest) / Math.max(Math.log(longest / shortest), 1e-9);
  const [canvas, context] = surface(left + nodes.length * cell, nodes.length * cell, `Round-trip times between ${nodes.length} nodes`);
  const color = heat(), at = new Map();
  for (const delay of items) {
    const y = index.get(delay.from), x = index.get(delay.to);
    at.set(y * nodes.length + x, delay);
    context.fillStyle = delay.p50Us > 0 ? color(shade(delay.p50Us)) : variable("--bad");
    context.fillRect(left + x * cell, y * cell, cell - (named ? 1 : 0), cell - (named ? 1 : 0));
  }
  if (named) {
    context.fillStyle = variable("--text");
    nodes.forEach((name, y) => context.fillText(shorten(context, name, labels - 10), 0, y * cell + cell / 2));
  }
  canvas.addEventListener("mousemove", (event) => {
    const y = Math.floor(event.offsetY / cell), x = Math.floor((event.offsetX - left) / cell), delay = at.get(y * nodes.length + x);
    if (x < 0 || !nodes[x] || !nodes[y]) return tip();
    tip(`${nodes[y]} → ${nodes[x]}\n` + (delay ? `median ${ms(delay.p50Us)}, 99th percentile ${ms(delay.p99Us)}, loss ${delay.lossPpm / 1e4} %\n${clock(delay.observed)}` : "not measured"), event);
  });
  canvas.addEventListener("mouseleave", () => tip());
  return [
    h("p", {}, h("span", { class: "scale" }, ms(shortest), h("i"), ms(longest)), h("span", { class: "quiet" }, `  median, from the row's node to the column's; ${plural(items.length, "pair")}`)),
    h("div", { class: "map" }, canvas),
  ];
}

const ms = (us) => us > 0 ? (us / 1000).toFixed(us < 10000 ? 2 : 0) + " ms" : "–";

function table(items) {
  const usage = (total, free, known) => known && total > 0 ? Math.max(0, Math.min(1, 1 - free / total)) : 0;
  const rows = [...items].sort((a, b) => usage(b.total, b.free, b.known) - usage(a.total, a.free, a.known) || a.node.localeCompare(b.node, undefined, { numeric: true }));
  const share = (total, free, known) => known ? [
    `${bytes(free)}/s of ${bytes(total)}/s`, h("div", { class: "meter used" }, h("i", { width: 100 * usage(total, free, known) + "%" }))] : h("span", { class: "quiet" }, bytes(total) + "/s, use not reported");
  return [
    items.length > disksAtOnce && h("p", { class: "quiet" }, `The ${disksAtOnce} fullest of ${plural(items.length, "disk")}.`),
    h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Node", "Disk", "Free in all", "Free for reading", "Free for writing"].map((name) => h("th", {}, name)))),
      h("tbody", {}, rows.slice(0, disksAtOnce).map((disk) => h("tr", {}, h("td", {}, disk.node), h("td", {}, disk.device),
        h("td", {}, share(disk.total, disk.free, disk.known)), h("td", {}, share(disk.totalRead, disk.freeRead, disk.known)), h("td", {}, share(disk.totalWrite, disk.freeWrite, disk.known))))))),
  ].filter(Boolean);
}
