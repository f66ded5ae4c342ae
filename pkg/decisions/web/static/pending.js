// Pods without a node, grouped by what stands in their way.
import { h, empty, plural, since } from "./dom.js";
import { ask } from "./api.js";

export async function show(context) {
  const list = h("div");
  const lead = h("p", { class: "lead" });
  context.main.append(h("h1", {}, "Pending"), lead, list);
  let last = "";
  await context.every(3000, async () => {
    const { items } = await ask("pending", { namespace: context.namespace, sample: 12 }, context.signal);
    const total = items.reduce((sum, group) => sum + group.pods, 0);
    lead.textContent = total === 0 ? "" : `${plural(total, "pod")} without a node, by what stood in the way of the last attempt.`;
    const text = JSON.stringify(items);
    if (text === last) return; // nothing new: leave the focus and the selection alone
    last = text;
    list.replaceChildren(...(total === 0 ? [empty("No pod is waiting for a node.")] : items.map((group) => card(group, total))));
  });
}

function card(group, total) {
  const title = group.plugin ? `${group.plugin}: ${group.reason}` : group.reason || "Not tried yet";
  return h("section", { class: "card group" },
    h("div", { class: "size" }, group.pods.toLocaleString(), h("small", {}, group.pods === 1 ? "pod" : "pods")),
    h("div", {}, h("h2", {}, title), group.oldest && h("span", { class: "quiet" }, "the oldest for " + since(group.oldest)),
      h("div", { class: "meter", title: Math.round(100 * group.pods / total) + " % of all pending pods" }, h("i", { width: 100 * group.pods / total + "%" })),
      h("div", { class: "pods" }, group.sample.map((pod) => h("a", { href: "#/pod/" + [pod.namespace, pod.name, pod.uid].map(encodeURIComponent).join("/") },
        pod.namespace + "/" + pod.name)), group.pods > group.sample.length && h("span", { class: "quiet" }, `and ${(group.pods - group.sample.length).toLocaleString()} more`)),
      group.advice && h("div", { class: "advice" }, group.advice.join(" "))));
}
