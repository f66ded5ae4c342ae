// Heat maps and timelines on a canvas: a row a node, whatever their number.
import { h, variable } from "./dom.js";

/** heat returns a function from 0..1 to a colour of the style sheet's scale. */
export function heat() {
  const stops = [0, 1, 2, 3].map((i) => parse(variable("--heat-" + i)));
  return (value) => {
    const at = Math.max(0, Math.min(1, value)) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2);
    const mix = stops[i].map((from, channel) => Math.round(from + (stops[i + 1][channel] - from) * (at - i)));
    return `rgb(${mix.join(" ")})`;
  };
}

function parse(color) {
  return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
}

/** surface is a canvas of a size in CSS pixels, sharp on any screen, and its context. */
export function surface(width, height, label) {
  const ratio = Math.min(devicePixelRatio || 1, 30000 / Math.max(width, height, 1));
  const canvas = h("canvas", { role: "img", "aria-label": label });
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return [canvas, context];
}

/** shorten fits a text into a width by leaving out its middle. */
export function shorten(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let keep = text.length;
  while (keep > 3 && context.measureText(cut(text, keep)).width > width) keep--;
  return cut(text, keep);
}

const cut = (text, keep) => text.slice(0, Math.ceil(keep / 2)) + "…" + text.slice(text.length - Math.floor(keep / 2));

/** axis is a canvas of times, from left to right, that stays in sight above a drawing that is scrolled. */
export function axis(since, until, left, right) {
  const height = 22;
  const [canvas, context] = surface(right, height, "Time");
  canvas.className = "axis";
  const format = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: until - since < 600e3 ? "2-digit" : undefined, hourCycle: "h23" });
  const n = Math.max(2, Math.min(8, Math.floor((right - left) / 110)));
  context.fillStyle = variable("--quiet");
  for (let i = 0; i <= n; i++) {
    const x = left + (right - left) * i / n;
    context.textAlign = i === 0 ? "left" : i === n ? "right" : "center";
    context.fillText(format.format(new Date(since + (until - since) * i / n)), x, height / 2);
  }
  return canvas;
}

export const spans = [["300", "5 minutes"], ["900", "15 minutes"], ["3600", "hour"], ["21600", "6 hours"], ["86400", "day"], ["604800", "week"]];

/** range turns a choice of spans into since and until. */
export function range(seconds) {
  const until = Date.now(), since = until - Number(seconds) * 1000;
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}
