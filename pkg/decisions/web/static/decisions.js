// The live list: the newest attempts, filtered, followed until its reader pauses or turns to older ones.
import { h, badge, clock, empty, field, pick, span } from "./dom.js";
import { ask } from "./api.js";

const pageSize = 100;

export async function show(context) {
  const { main, filters, remember } = context;
  let paused = false, older = [], next = "";
  const body = h("tbody");
  const state = h("span", { class: "live" }, "live");
  const pause = h("button", { id: "pause", type: "button", title: "Key p", onclick: () => hold(!paused) }, "Pause");
  const more = h("button", { type: "button", onclick: () => context.attempt(turn) }, "Older");
  const nothing = empty("No decision matches. Pods of a profile with plugin Sniffer appear here as soon as they are tried.");
  const table = h("div", { class: "card flush scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Time", "Pod", "Outcome", "Node", "Why"].map((name) => h("th", {}, name)),
      ["Attempt", "Nodes passed", "Took", "Queued"].map((name) => h("th", { class: "number" }, name)))),
    body));

  function hold(value) {
    paused = value;
    pause.textContent = paused ? "Go on" : "Pause";
    state.textContent = paused ? "paused" : "live";
    state.classList.toggle("paused", paused);
    if (!paused) { older = []; context.attempt(refresh); }
  }
  const filter = (name) => (value) => { remember(name, value); older = []; context.attempt(refresh); };
  const question = () => ({
    namespace: context.namespace, pod: filters.get("pod") ?? "", node: filters.get("node") ?? "", plugin: filters.get("plugin") ?? "",
    outcome: filters.get("outcome") ?? "", limit: pageSize,
  });

  main.append(
    h("h1", {}, "Decisions"), h("p", { class: "lead" }, "Every attempt to schedule a pod, the newest first."),
    h("div", { class: "bar" },
      field("Pod", filters.get("pod") ?? "", filter("pod")), field("Node", filters.get("node") ?? "", filter("node")),
      field("Plugin", filters.get("plugin") ?? "", filter("plugin")),
      pick("Outcome", [["", "any"], ["Bound", "Bound"], ["Unschedulable", "Unschedulable"], ["Error", "Error"], ["Fits", "Fits (trial)"]],
        filters.get("outcome") ?? "", filter("outcome")),
      h("span", { class: "grow" }), state, pause),
    table, nothing, h("div", { class: "bar" }, more));

  async function turn() {
    hold(true);
    const page = await ask("decisions", { ...question(), after: next }, context.signal);
    older.push(...page.items);
    next = page.next ?? "";
    draw(older, true);
  }

  async function refresh() {
    const page = await ask("decisions", question(), context.signal);
    next = page.next ?? "";
    older = page.items;
    draw(page.items, false);
  }

  /** draw keeps the rows that are there, so that the focus and what is selected stay. */
  function draw(items) {
    const known = new Map([...body.children].map((row) => [row.dataset.id, row]));
    const rows = items.map((item) => known.get(item.id) ?? rowOf(item));
    const focused = document.activeElement;
    if (rows.length !== body.children.length || rows.some((row, i) => row !== body.children[i])) {
      body.replaceChildren(...rows);
      if (body.contains(focused)) focused.focus({ preventScroll: true });
    }
    table.hidden = items.length === 0;
    nothing.hidden = items.length > 0;
    more.hidden = next === "";
  }

  table.hidden = nothing.hidden = more.hidden = true;
  await context.every(2000, async () => { if (!paused) await refresh(); });
}

function rowOf(item) {
  const open = () => { location.hash = "#/decision/" + item.id; };
  return h("tr", { class: "link", tabindex: "0", "data-id": item.id, onclick: open, onkeydown: (event) => event.key === "Enter" && open() },
    h("td", { class: "nowrap" }, clock(item.time)),
    h("td", {}, h("span", { class: "quiet" }, item.namespace + "/"), h("a", { href: "#/decision/" + item.id, tabindex: "-1" }, item.pod)),
    h("td", { class: "nowrap" }, badge(item)),
    h("td", { class: "nowrap" }, item.node || h("span", { class: "quiet" }, "–")),
    h("td", { class: "cut", title: item.reason }, item.plugin ? h("span", {}, h("b", {}, item.plugin), " ", item.reason) : item.reason || found(item)),
    h("td", { class: "number" }, String(item.attempt)),
    h("td", { class: "number" }, `${item.feasible} of ${item.nodes}`),
    h("td", { class: "number" }, span(item.tookMs)),
    h("td", { class: "number" }, span(item.queuedMs)));
}

const words = { Scored: "highest score", OnlyFeasible: "only node that fits", Nominated: "nominated before", BatchHint: "next best of an equal pod" };
const found = (item) => h("span", { class: "quiet" }, words[item.found] ?? "");
