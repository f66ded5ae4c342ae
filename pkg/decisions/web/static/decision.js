// One decision: in words, and as a table of nodes and plugins.
import { h, badge, clock, empty, field, hue, plural, span } from "./dom.js";
import { ask } from "./api.js";

const rowsAtOnce = 200;

export async function showDecision(context) {
  const [id] = context.rest;
  const decision = await ask("decisions/" + encodeURIComponent(id), {}, context.signal);
  const path = "pods/" + encodeURIComponent(decision.namespace) + "/" + encodeURIComponent(decision.pod);
  render(context, decision, await ask(path, { uid: decision.uid }, context.signal));
}

export async function showPod(context) {
  const [namespace, name, uid] = context.rest;
  const history = await ask("pods/" + encodeURIComponent(namespace) + "/" + encodeURIComponent(name), { uid }, context.signal);
  if (history.attempts.length > 0) return render(context, history.attempts[0], history);
  context.main.replaceChildren(h("h1", {}, `${namespace}/${name}`),
    empty("No attempt to schedule this pod was recorded: it may be another scheduler's, or not have been tried yet."), timeOf(history));
}

function render(context, decision, history) {
  const { record, explanation } = decision;
  context.main.replaceChildren(
    h("p", { class: "lead" }, h("a", { href: "#/decisions" }, "Decisions"), " / ", decision.namespace),
    h("h1", {}, decision.pod),
    h("section", { class: "card" },
      h("div", {}, badge(decision), " ", h("span", { class: "quiet" }, `attempt ${decision.attempt}, ${clock(decision.time)}`)),
      h("p", { class: "headline", id: "headline" }, explanation.headline),
      explanation.details && h("ul", { class: "plain" }, explanation.details.map((text) => h("li", {}, text))),
      explanation.advice && h("div", { class: "advice" }, h("b", {}, "What would change it"),
        h("ul", { class: "plain" }, explanation.advice.map((text) => h("li", {}, text)))),
      facts(decision, record)),
    h("section", { class: "card flush" }, matrix(context, decision)),
    h("div", { class: "columns" },
      h("section", { class: "card" }, h("h2", {}, "Where the time went"), phases(record), durations(decision)),
      h("div", {}, attempts(decision, history), timeOf(history))));
}

function facts(decision, record) {
  const entries = [
    ["Profile", decision.profile], ["Owner", record.pod.owner && `${record.pod.owner.kind} ${record.pod.owner.name}`], ["Group", record.pod.group],
    ["Priority", record.pod.priority], ["UID", decision.uid], ["Record", `${decision.session} #${decision.seq}`],
  ].filter(([, value]) => value !== undefined && value !== "");
  return h("dl", { class: "facts" }, entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { class: "mono" }, String(value)))));
}

/** nodesOf are all nodes that the record names, each with its verdict and its scores. */
function nodesOf(record) {
  const nodes = new Map();
  for (const score of record.scores?.top ?? []) nodes.set(score.node, { node: score.node, score });
  for (const verdict of record.matrix ?? []) {
    const known = nodes.get(verdict.node);
    const score = known?.score ?? (verdict.weighted ? { total: verdict.total ?? 0, weighted: verdict.weighted, raw: verdict.raw ?? [] } : undefined);
    nodes.set(verdict.node, { node: verdict.node, verdict: verdict.verdict, plugin: verdict.plugin, reason: verdict.reason, score });
  }
  for (const rejection of record.rejections ?? []) {
    for (const node of rejection.sample ?? []) {
      if (!nodes.has(node)) nodes.set(node, { node, verdict: rejection.stage === "PreFilter" ? "Excluded" : "Rejected", ...rejection });
    }
  }
  if (record.node && !nodes.has(record.node)) nodes.set(record.node, { node: record.node });
  const rank = (entry) => entry.node === record.node ? 0 : entry.score ? 1 : { Feasible: 2, Rejected: 3, Excluded: 4 }[entry.verdict] ?? 5;
  return [...nodes.values()].sort((a, b) => rank(a) - rank(b) || (b.score?.total ?? 0) - (a.score?.total ?? 0) || a.node.localeCompare(b.node, undefined, { numeric: true }));
}

function matrix(context, decision) {
  const { record } = decision;
  const plugins = record.scores?.plugins ?? [];
  const all = nodesOf(record);
  const widest = Math.max(1, ...all.flatMap((entry) => (entry.score?.weighted ?? []).map(Math.abs)));
  const body = h("tbody"), note = h("p", { class: "quiet" });
  const answer = h("p", { id: "why-not", role: "status" });

  function draw(text) {
    const matching = all.filter((entry) => entry.node.includes(text));
    body.replaceChildren(...matching.slice(0, rowsAtOnce).map((entry) => nodeRow(record, plugins, entry, widest)));
    const unnamed = (record.nodes.total ?? 0) - all.length;
    note.textContent = [
      matching.length > rowsAtOnce && `Of ${plural(matching.length, "node")} the first ${rowsAtOnce} are shown: narrow them by name.`,
      unnamed > 0 && `The record names ${all.length} of ${plural(record.nodes.total, "node")}; the others are counted above.`,
    ].filter(Boolean).join(" ");
  }
  async function whyNot(text) {
    draw(text);
    answer.textContent = "";
    if (!text || all.some((entry) => entry.node.includes(text) && entry.node !== text)) return;
    const asked = await ask("decisions/" + decision.id, { node: text }, context.signal);
    answer.textContent = asked.whyNot;
  }
  draw("");
  const input = field("Why not node …", "", (text) => context.attempt(() => whyNot(text)));
  input.id = "why-not-node";
  return [
    h("div", { class: "bar", id: "matrix-bar" }, h("h2", {}, "Nodes and plugins"), h("span", { class: "grow" }), input),
    h("div", { id: "matrix-note" }, answer, note),
    h("div", { class: "scroll" }, h("table", { id: "matrix" },
      h("thead", {}, h("tr", {}, h("th", {}, "Node"), h("th", {}, "Verdict"), h("th", { class: "number" }, "Total"),
        plugins.map((plugin) => h("th", { class: "number", title: "weight " + plugin.weight }, `${plugin.name} ×${plugin.weight}`)),
        h("th", {}, "Why it lost"))),
      body)),
  ];
}

function nodeRow(record, plugins, entry, widest) {
  const winner = entry.node === record.node && record.outcome !== "Unschedulable";
  const verdict = winner ? "Chosen" : entry.score || entry.verdict === "Feasible" ? "Passed" : { Rejected: "Rejected", Excluded: "Ruled out", NotEvaluated: "Not looked at" }[entry.verdict] ?? "–";
  return h("tr", { class: winner ? "winner" : entry.score ? "" : "lost" },
    h("td", { class: "nowrap" }, entry.node), h("td", { class: "nowrap" }, verdict),
    h("td", { class: "number" }, entry.score ? h("b", {}, String(entry.score.total)) : ""),
    plugins.map((_, i) => {
      const points = entry.score?.weighted?.[i];
      if (points === undefined) return h("td", {});
      const raw = entry.score.raw?.[i], normalised = entry.score.normalised?.[i];
      return h("td", { class: "number", title: [raw !== undefined && "raw " + raw, normalised !== undefined && "normalised " + normalised].filter(Boolean).join(", ") },
        String(points), h("span", { class: "share", width: Math.round(100 * Math.abs(points) / widest) + "%" }));
    }),
    h("td", { class: "wide" }, winner ? terms(entry) : whyLost(record, plugins, entry)));
}

function terms(entry) {
  const texts = (entry.score?.terms ?? []).flatMap((plugin) => plugin.terms.map((term) => `${plugin.plugin}: ${term.name} ${value(term)} ${term.text ?? ""}`.trim()));
  return h("span", { class: "quiet" }, texts.join("; "));
}

function value(term) {
  if (term.value === undefined) return "";
  if (term.unit === "share") return Math.round(100 * term.value) + " %";
  return Math.round(term.value * 100) / 100 + (term.unit ? " " + term.unit : "");
}

function whyLost(record, plugins, entry) {
  if (entry.plugin || entry.reason) return [entry.plugin && h("b", {}, entry.plugin + " "), entry.reason];
  const winner = record.scores?.top.find((score) => score.node === record.node);
  if (!entry.score || !winner) return "";
  const behind = plugins.map((plugin, i) => [plugin.name, winner.weighted[i] - entry.score.weighted[i]]).filter(([, points]) => points > 0);
  if (behind.length === 0) return winner.total === entry.score.total ? "the same score: chance decided" : "";
  const [name, points] = behind.sort((a, b) => b[1] - a[1])[0];
  return `${winner.total - entry.score.total} behind, most through ${name} (−${points})`;
}

function phases(record) {
  const list = record.phases ?? [];
  if (list.length === 0) return h("p", { class: "quiet" }, "The record has no phases.");
  const total = list.reduce((sum, phase) => sum + phase.durationNs, 0) || 1;
  const color = (phase) => `hsl(${hue(phase.name)} 60% 55%)`;
  return [
    h("div", { class: "phases", role: "img", "aria-label": list.map((phase) => `${phase.name} ${span(phase.durationNs / 1e6)}`).join(", ") },
      list.map((phase) => h("span", { width: 100 * phase.durationNs / total + "%", color: color(phase), title: `${phase.name} ${span(phase.durationNs / 1e6)}` }))),
    h("div", { class: "legend" }, list.map((phase) => h("span", {}, h("i", { color: color(phase) }), `${phase.name} ${span(phase.durationNs / 1e6)}`))),
  ];
}

function durations(decision) {
  const { record } = decision;
  return h("dl", { class: "facts" },
    [["Waited in the queue", span(decision.queuedMs)], ["Attempt", span(decision.tookMs)],
      record.permit?.waitedNs && ["Waited for permission", span(record.permit.waitedNs / 1e6)]].filter(Boolean)
      .map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text))));
}

function attempts(decision, history) {
  return h("section", { class: "card" }, h("h2", {}, "Attempts of this pod"),
    h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, history.attempts.map((attempt) =>
      h("tr", { class: attempt.id === decision.id ? "winner" : "" },
        h("td", { class: "nowrap" }, h("a", { href: "#/decision/" + attempt.id }, "attempt " + attempt.attempt)),
        h("td", { class: "nowrap" }, clock(attempt.time)), h("td", {}, badge(attempt)),
        h("td", {}, attempt.node || [attempt.plugin, attempt.reason].filter(Boolean).join(" "))))))));
}

function timeOf(history) {
  return h("section", { class: "card" }, h("h2", {}, "What happened"),
    h("dl", { class: "facts" }, [["Created", "created"], ["Node found", "decided"], ["Bound", "bound"], ["Started", "started"], ["Ended", "ended"]]
      .filter(([, key]) => history.pod[key]).map(([name, key]) => h("div", {}, h("dt", {}, name), h("dd", {}, clock(history.pod[key]))))),
    history.events.length > 0 && h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, history.events.map((event) =>
      h("tr", {}, h("td", { class: "nowrap" }, clock(event.timestamp)), h("td", {}, event.event || event.endpoint), h("td", { class: "quiet" }, event.reason || event.message || "")))))),
    history.namesakes && h("p", {}, h("span", { class: "quiet" }, "Other pods of this name: "), history.namesakes.map((pod) => [
      h("a", { href: "#/pod/" + [pod.namespace, pod.name, pod.uid].map(encodeURIComponent).join("/") }, clock(pod.created || pod.bound)), " "])));
}
