// Views, routes and keys. The address says what is shown (#/view/argument?filters), so links and the back button work.
import { $, h, options, say, tip } from "./dom.js";
import { ask, takeToken } from "./api.js";
import * as decisions from "./decisions.js";
import * as decision from "./decision.js";
import * as pending from "./pending.js";
import * as occupancy from "./occupancy.js";
import * as timeline from "./timeline.js";
import * as rates from "./rates.js";
import * as nodes from "./nodes.js";

const views = {
  decisions: { title: "Decisions", show: decisions.show },
  pending: { title: "Pending", show: pending.show },
  occupancy: { title: "Occupancy", show: occupancy.show },
  timeline: { title: "Timeline", show: timeline.show },
  rates: { title: "Throughput", show: rates.show },
  nodes: { title: "Network and disks", show: nodes.show },
  decision: { title: "Decision", show: decision.showDecision, hidden: true },
  pod: { title: "Pod", show: decision.showPod, hidden: true },
};
const tabs = Object.entries(views).filter(([, view]) => !view.hidden);

/** route takes the address apart. */
function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/").map(decodeURIComponent);
  return { name: views[name] ? name : "decisions", rest, filters: new URLSearchParams(query) };
}

let shown; // what ends the view that is shown

async function show() {
  shown?.abort();
  const controller = shown = new AbortController();
  const { name, rest, filters } = route();
  document.title = views[name].title + " · Vicinity";
  for (const link of $("#nav").children) {
    const current = link.dataset.view === name || (views[name].hidden && link.dataset.view === "decisions");
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  tip();
  const context = {
    main: $("#main"), rest, filters, signal: controller.signal, namespace: $("#namespace").value,
    /** every calls f now and then again after each pause, until the view changes. */
    async every(ms, f) {
      while (!controller.signal.aborted) {
        if (!document.hidden) await attempt(f, controller.signal);
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
    },
    attempt: (f) => attempt(f, controller.signal),
    /** remember puts a filter into the address without a new entry in the history. */
    remember(name_, value) {
      if (value) filters.set(name_, value);
      else filters.delete(name_);
      const query = filters.toString();
      history.replaceState(null, "", "#/" + [name, ...rest].map(encodeURIComponent).join("/") + (query ? "?" + query : ""));
    },
  };
  $("#main").replaceChildren();
  await attempt(() => views[name].show(context), controller.signal);
}

/** attempt tells what goes wrong, and leaves what is shown. */
async function attempt(f, signal) {
  try {
    await f();
    say("");
  } catch (error) {
    if (!signal.aborted) say(error instanceof TypeError ? "The service does not answer: " + error.message : error.message);
  }
}

async function namespaces() {
  const list = await ask("namespaces");
  const chosen = $("#namespace").value || localStorage.getItem("vicinity-namespace") || "";
  const known = list.items.includes(chosen) ? chosen : "";
  options($("#namespace"), [["", "All namespaces"], ...list.items.map((name) => [name, name])], known);
  return known !== "";
}

function theme(next) {
  const dark = next ?? localStorage.getItem("vicinity-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = dark;
  return dark;
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "Escape") {
    if (typing) document.activeElement.blur();
    else if (views[route().name].hidden) history.back();
    return;
  }
  if (typing) return;
  const tab = tabs[Number(event.key) - 1];
  if (tab) location.hash = "#/" + tab[0];
  else if (event.key === "/") { event.preventDefault(); $("#main input")?.focus(); }
  else if (event.key === "?") $("#keys").showModal();
  else if (event.key === "p") $("#pause")?.click();
  else if (event.key === "j" || event.key === "ArrowDown") move(1, event);
  else if (event.key === "k" || event.key === "ArrowUp") move(-1, event);
}

/** move puts the focus on the next row that can be opened. */
function move(by, event) {
  const rows = [...document.querySelectorAll("#main tr.link")];
  if (rows.length === 0) return;
  event.preventDefault();
  const at = rows.indexOf(document.activeElement?.closest("tr"));
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))].focus();
}

takeToken();
theme();
$("#nav").replaceChildren(...tabs.map(([name, view], i) =>
  h("a", { href: "#/" + name, "data-view": name, title: "Key " + (i + 1) }, view.title)));
$("#theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("vicinity-theme", next);
  theme(next);
  show(); // canvases have their colours from the style sheet
});
$("#help").addEventListener("click", () => $("#keys").showModal());
$("#namespace").addEventListener("change", () => {
  localStorage.setItem("vicinity-namespace", $("#namespace").value);
  show();
});
addEventListener("hashchange", show);
addEventListener("keydown", keys);
options($("#namespace"), [["", "All namespaces"]], "");
show();
attempt(async () => { if (await namespaces()) show(); }, new AbortController().signal);
setInterval(() => { if (!document.hidden) attempt(namespaces, new AbortController().signal); }, 30000);
