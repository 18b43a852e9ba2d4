"use strict";
// Curves on canvases that share one time axis: drag to zoom, double click to see all; with keys,
// arrows move along and Escape leaves.
const DATA = JSON.parse(document.getElementById("data").textContent);
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195",
               "#8c564b"];
const DARK = ["#4aa8e0", "#ff8a4d", "#2fcf9b", "#e7a0c6", "#e0b040", "#a8dcf8", "#b99ad0",
              "#c79a8c"];
const night = matchMedia("(prefers-color-scheme: dark)"), touched = matchMedia("(hover: none)");
function numbers(text, kind) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new kind(bytes.buffer);
}
for (const panel of DATA.panels) for (const c of panel.curves) {
  c.t = numbers(c.t, Float64Array);
  c.y = numbers(c.y, Float32Array);
  c.on = true;
}
const whole = DATA.span;
let span = whole.slice(), pointer = null, from = null;
const LEFT = 72, RIGHT = 8, TOP = 8, BOTTOM = 26;

function after(t, at) {  // first index with t[i] > at
  let low = 0, high = t.length;
  while (low < high) { const m = (low + high) >> 1; if (t[m] > at) high = m; else low = m + 1; }
  return low;
}
function ticks(low, high, most) {
  const rough = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(k => k * power).find(s => s >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
    found.push(k * step);
  return [found, step];
}
function written(x, step) {
  const size = Math.abs(x);
  if (size < step * 1e-6) return "0";
  if (size >= 1e5 || size < 1e-3) {
    const digits = Math.max(0, Math.floor(Math.log10(size)) - Math.floor(Math.log10(step)));
    return x.toExponential(Math.min(digits, 12)).replace("e+", "e");
  }
  return x.toFixed(Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))))
    .replace(/^-(0(\.0*)?)$/, "$1");
}
function limits(panel) {
  let low = Infinity, high = -Infinity;
  for (const c of panel.curves) if (c.on) {
    const a = Math.max(0, after(c.t, span[0]) - 1), b = Math.min(c.t.length, after(c.t, span[1]) + 1);
    for (let i = a; i < b; i++) {
      if (c.y[i] < low) low = c.y[i];
      if (c.y[i] > high) high = c.y[i];
    }
  }
  if (!(low <= high)) return [-1, 1];
  const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return [low - room, high + room];
}
function paint(panel) {
  const canvas = panel.canvas, wide = canvas.clientWidth, high = canvas.clientHeight;
  const ratio = window.devicePixelRatio || 1, style = getComputedStyle(document.body);
  canvas.width = wide * ratio; canvas.height = high * ratio;
  const g = canvas.getContext("2d");
  g.scale(ratio, ratio);
  const [low, top] = limits(panel), w = wide - LEFT - RIGHT, h = high - TOP - BOTTOM;
  const x = t => LEFT + (t - span[0]) / (span[1] - span[0]) * w;
  const y = v => TOP + (top - v) / (top - low) * h;
  const line = style.getPropertyValue("--line"), faint = style.getPropertyValue("--faint");
  g.font = "12px " + style.fontFamily; g.fillStyle = faint; g.strokeStyle = line; g.lineWidth = 1;
  const [ty, sy] = ticks(low, top, h / 40), [tx, sx] = ticks(span[0], span[1], w / 90);
  g.textAlign = "right"; g.textBaseline = "middle";
  for (const v of ty) {
    g.beginPath(); g.moveTo(LEFT, y(v)); g.lineTo(LEFT + w, y(v)); g.stroke();
    g.fillText(written(v, sy), LEFT - 6, y(v));
  }
  g.textBaseline = "top";
  for (const t of tx) {
    g.beginPath(); g.moveTo(x(t), TOP); g.lineTo(x(t), TOP + h); g.stroke();
    g.textAlign = x(t) > LEFT + w - 16 ? "right" : "center";
    g.fillText(written(t, sx), x(t), TOP + h + 9);
  }
  g.fillStyle = style.getPropertyValue("--ink");  // events: marks on the time axis
  for (const e of DATA.events) if (e[0] >= span[0] && e[0] <= span[1])
    g.fillRect(x(e[0]) - 0.5, TOP + h, 1, 6);
  g.save(); g.beginPath(); g.rect(LEFT, TOP, w, h); g.clip();
  g.lineWidth = 1.6; g.lineJoin = "round";
  for (const c of panel.curves) if (c.on) {
    g.strokeStyle = c.colour; g.setLineDash(c.dashes); g.beginPath();
    const a = Math.max(0, after(c.t, span[0]) - 1), b = Math.min(c.t.length, after(c.t, span[1]) + 1);
    let pen = false;
    for (let i = a; i < b; i++) {
      if (!isFinite(c.y[i])) { pen = false; continue; }
      if (pen && c.stairs) g.lineTo(x(c.t[i]), y(c.y[i - 1]));
      if (pen) g.lineTo(x(c.t[i]), y(c.y[i])); else g.moveTo(x(c.t[i]), y(c.y[i]));
      pen = true;
    }
    g.stroke();
  }
  g.restore();
  if (pointer !== null) {
    g.strokeStyle = faint; g.beginPath();
    g.moveTo(x(pointer), TOP); g.lineTo(x(pointer), TOP + h); g.stroke();
    if (from !== null) {
      g.globalAlpha = 0.15; g.fillStyle = faint;
      g.fillRect(x(from), TOP, x(pointer) - x(from), h); g.globalAlpha = 1;
    }
  }
}
function value(c, t) {
  const i = after(c.t, t);
  if (i === 0) return c.y[0];
  if (i >= c.t.length || c.stairs) return c.y[Math.min(i, c.t.length) - 1];
  const part = (t - c.t[i - 1]) / (c.t[i] - c.t[i - 1]);
  return c.y[i - 1] + part * (c.y[i] - c.y[i - 1]);
}
function told() {
  const hint = document.getElementById("hint");
  for (const panel of DATA.panels) for (const c of panel.curves)
    c.shown.textContent = pointer === null ? "" : " " + Number(value(c, pointer).toPrecision(5));
  if (pointer === null) {
    hint.textContent = (touched.matches ? "Touch curves to read them."
      : "Drag to zoom, double click to see all.") +
      (DATA.events.length ? " Marks on the time axis are events." : "");
    return;
  }
  const near = DATA.events.filter(e => Math.abs(e[0] - pointer) < (span[1] - span[0]) / 150);
  hint.textContent = "at " + Number(pointer.toPrecision(7)) + " s" +
    (near.length ? ": " + near.slice(0, 3).map(e => e[1]).join("; ") +
      (near.length > 3 ? ` and ${near.length - 3} more events` : "") : "");
}
let waiting = false;
function repaint() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; DATA.panels.forEach(paint); told(); });
}
const place = document.getElementById("panels");
for (const panel of DATA.panels) {
  const box = document.createElement("div"); box.className = "panel";
  const legend = document.createElement("div"); legend.className = "legend";
  panel.curves.forEach(c => {
    const label = document.createElement("label"), tick = document.createElement("input");
    const words = document.createElement("span"), bar = document.createElement("i");
    tick.type = "checkbox"; tick.checked = true; c.bar = bar;
    tick.onchange = () => { c.on = tick.checked; repaint(); };
    c.shown = document.createElement("b");
    words.append(bar, c.name + (panel.unit ? ` in ${panel.unit}` : ""), c.shown);
    words.title = c.doc;
    label.append(tick, words); legend.append(label);
  });
  panel.canvas = document.createElement("canvas");
  panel.canvas.style.height = "230px";
  const time = e => {
    const w = panel.canvas.clientWidth - LEFT - RIGHT;
    const t = span[0] + (e.offsetX - LEFT) / w * (span[1] - span[0]);
    return Math.min(span[1], Math.max(span[0], t));
  };
  panel.canvas.onpointermove = e => { pointer = time(e); repaint(); };
  panel.canvas.onpointerleave = () => { pointer = null; from = null; repaint(); };
  panel.canvas.onpointerdown = e => { if (e.pointerType !== "touch") from = time(e); };
  panel.canvas.onpointerup = e => {
    const to = time(e);
    if (from !== null && Math.abs(to - from) > (span[1] - span[0]) / 100)
      span = [Math.min(from, to), Math.max(from, to)];
    from = null; repaint();
  };
  panel.canvas.tabIndex = 0;
  panel.canvas.setAttribute("role", "img");
  panel.canvas.setAttribute("aria-label", panel.curves.map(c => c.name).join(", ") + " over time");
  panel.canvas.onkeydown = e => {
    const step = {ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: 0.1, PageDown: -0.1}[e.key];
    if (step) {
      pointer = Math.min(span[1], Math.max(span[0], (pointer ?? span[0]) + step * (span[1] - span[0])));
      e.preventDefault();
    } else if (e.key === "Escape") pointer = null;
    repaint();
  };
  panel.canvas.onblur = () => { pointer = null; repaint(); };
  panel.canvas.ondblclick = () => { span = whole.slice(); repaint(); };
  box.append(legend, panel.canvas); place.append(box);
}
window.onresize = repaint;
function coloured() {
  for (const panel of DATA.panels) panel.curves.forEach((c, k) => {
    c.colour = (night.matches ? DARK : LIGHT)[k % LIGHT.length];
    c.dashes = [[], [7, 3], [2, 2]][Math.floor(k / LIGHT.length) % 3];  // where colours repeat
    const [on, off] = c.dashes.length ? c.dashes : [9, 0];
    c.bar.style.background = `repeating-linear-gradient(90deg, ${c.colour} 0 ${on}px, ` +
      `transparent ${on}px ${on + off}px)`;
  });
  repaint();
}
night.onchange = coloured;
coloured();
