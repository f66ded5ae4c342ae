// Building blocks of the page. Everything that comes from a cluster goes through h(), which sets text and attributes and
// never markup.

/** h makes an element: attributes by name, "on..." as listeners, children as nodes or text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "width") element.style.width = value;
    else if (name === "color") element.style.background = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

export const $ = (selector) => document.querySelector(selector);

/** variable reads a colour of the style sheet, for canvases. */
export const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function say(text) {
  $("#status").textContent = text;
}

/** tip shows a tooltip beside the pointer; without text it hides it. */
export function tip(text, event) {
  const element = $("#tip");
  element.hidden = !text;
  if (!text) return;
  element.textContent = text;
  const { width, height } = element.getBoundingClientRect();
  element.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
  element.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 8)) + "px";
}

/** options fills a select. */
export function options(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, label]) => h("option", { value, selected: value === chosen }, label)));
}

/** pick is a labelled select that calls back with its value. */
export function pick(label, entries, chosen, changed) {
  const select = h("select", { "aria-label": label, onchange: () => changed(select.value) });
  options(select, entries, chosen);
  return h("label", {}, label, select);
}

/** field is a text filter that calls back once its user pauses. */
export function field(label, value, changed) {
  let timer;
  const input = h("input", {
    type: "search", placeholder: label, "aria-label": label, value, spellcheck: "false",
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => changed(input.value.trim()), 250); },
  });
  return input;
}

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** clock is the time of day, with the day where it is not today. */
export function clock(text) {
  if (!text) return "–";
  const date = new Date(text);
  const today = new Date().toDateString() === date.toDateString();
  return (today ? "" : day.format(date) + " ") + time.format(date);
}

/** span is a duration in the largest unit that leaves digits. */
export function span(ms) {
  if (ms === undefined || ms === null) return "–";
  if (ms <= 0) return "0";
  if (ms < 1) return Math.round(ms * 1000) + " µs";
  if (ms < 1000) return (ms < 10 ? ms.toFixed(1) : Math.round(ms)) + " ms";
  if (ms < 60e3) return (ms / 1000).toFixed(1) + " s";
  if (ms < 3600e3) return Math.floor(ms / 60e3) + " min " + Math.floor(ms / 1000 % 60) + " s";
  if (ms < 48 * 3600e3) return Math.floor(ms / 3600e3) + " h " + Math.floor(ms / 60e3 % 60) + " min";
  return Math.floor(ms / 86400e3) + " d";
}

export const since = (text) => text ? span(Date.now() - new Date(text)) : "–";

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit++; }
  return (n < 10 && unit ? n.toFixed(1) : Math.round(n)) + " " + units[unit];
}

/** plural counts. */
export const plural = (n, one, many = one + "s") => n.toLocaleString() + " " + (n === 1 ? one : many);

/** hue gives equal names equal colours. */
export function hue(name) {
  let hash = 0;
  for (const c of name) hash = (hash * 31 + c.codePointAt(0)) >>> 0;
  return (hash * 137) % 360;
}

export function badge(decision) {
  return [
    h("span", { class: "badge " + decision.outcome }, decision.outcome || "Pending"),
    decision.tentative && h("span", { class: "badge plain", title: "A trial of a pod group: what was found is given back" }, " trial"),
  ];
}

export const empty = (...text) => h("div", { class: "card empty" }, ...text);
