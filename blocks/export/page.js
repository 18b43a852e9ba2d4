// The page: sliders and switches, a run after every move, what came of it.
const SLICE = 24;  // ms of a run before what there is of it is drawn
const LISTED = 60;  // events
const find = id => document.getElementById(id);
const shown = (value, digits = 5) => String(Number(value.toPrecision(digits)));
const curves = DATA.panels.flatMap(panel => panel.curves.map(c => Object.assign(c, {unit: panel.unit})));
const runs = DATA.programs.map(() => null);
let positions = DATA.sliders.map(s => s.start), choice = DATA.programs[0].choice.slice();
let latest = 0;

function program() { return DATA.programs.findIndex(p => p.choice.every((c, k) => c === choice[k])); }

async function simulate() {
  const mine = ++latest, k = program();
  try {
    runs[k] ??= await Run.made(DATA.programs[k], DATA.sliders, DATA.span, curves.length);
  } catch (error) {
    find("outcome").textContent = `This browser cannot run the model: ${error.message}`;
    return;
  }
  if (mine !== latest) return;  // moved again meanwhile
  const run = runs[k], began = performance.now();
  run.begin(positions);
  let spent = 0;
  const go = () => {
    if (mine !== latest) return;
    const from = performance.now(), over = run.go(from + SLICE);
    spent += performance.now() - from;
    show(run, over, spent);
    if (!over) setTimeout(go);
  };
  go();
}

function show(run, over, spent) {
  const [t, ...values] = run.points();
  for (const c of curves) {
    c.t = t;
    c.y = values[c.at].map(v => (v - c.offset) / c.factor);
  }
  const told = run.events();
  DATA.events = told.map(([time, who, what]) => [time, `${who} ${what}`]);
  repaint();
  const reached = `${shown(t[t.length - 1])} s`, failure = over ? run.failure : "";
  const outcome = find("outcome");
  outcome.className = failure ? "bad" : "faint";
  outcome.textContent = failure ? `The run has stopped ${failure}.` : over
    ? `${told.length || "No"} event${told.length === 1 ? "" : "s"} in ${reached}, ` +
      `simulated in ${shown(spent, 2)} ms by ${run.program.method}`
    : `at ${reached} …`;
  if (!over) return;
  rows(document.querySelector("#values tbody"), curves.map(c => {
    const told = [c.y[c.y.length - 1], least(c.y, 1), -least(c.y, -1)];
    const size = Math.max(...told.map(Math.abs));  // beside which rounding is nothing
    return [c.name, ...told.map(v => shown(Math.abs(v) < 1e-12 * size ? 0 : v, 7)), c.unit || "1"];
  }));
  rows(document.querySelector("#events tbody"),
       told.slice(0, LISTED).map(([time, who, what]) => [shown(time, 8), who, what]));
  find("events").hidden = !told.length;
  document.querySelector("#events p").textContent =
    told.length > LISTED ? `and ${told.length - LISTED} more` : "";
  document.body.dataset.run = String(latest);  // for who waits for it
}

function least(values, sign) {
  return values.reduce((found, v) => Math.min(found, sign * v), Infinity);
}

function rows(body, lines) {
  body.replaceChildren(...lines.map(line => {
    const row = document.createElement("tr");
    line.forEach((cell, k) => {
      const place = row.insertCell();
      place.textContent = cell;
      if (body.closest("#values") && k > 0 && k < 4) place.className = "number";
    });
    return row;
  }));
}

// -- sliders and switches -----------------------------------------------------------------
const inputs = DATA.sliders.map((s, k) => {
  const box = document.createElement("div"), label = document.createElement("label");
  const input = document.createElement("input"), output = document.createElement("output");
  const ends = document.createElement("small"), last = s.values.length - 1;
  const told = at => shown(s.values[at], 6) + (s.unit ? " " + s.unit : "");
  Object.assign(input, {type: "range", min: 0, max: last, step: 1, id: `slider${k}`});
  label.htmlFor = output.htmlFor = input.id;
  label.append(s.path, output);
  for (const text of [told(0), s.doc, told(last)]) {
    const span = document.createElement("span");
    span.textContent = text;
    ends.append(span);
  }
  input.oninput = () => { positions[k] = Number(input.value); settled(); };
  box.append(label, input, ends);
  find("settings").append(box);
  return () => {
    input.value = positions[k];
    output.textContent = told(positions[k]);
    input.setAttribute("aria-valuetext", output.textContent);
  };
}).concat(DATA.switches.map((s, k) => {
  const box = document.createElement("div"), label = document.createElement("label");
  const select = document.createElement("select");
  select.id = `switch${k}`;
  label.htmlFor = select.id;
  label.append(s.path);
  select.append(...s.values.map((text, at) => new Option(text, at)));
  select.onchange = () => { choice[k] = Number(select.value); settled(); };
  box.append(label, select);
  find("settings").append(box);
  return () => { select.value = choice[k]; };
}));

// -- the link -----------------------------------------------------------------------------
function settings() {
  const parts = DATA.sliders.flatMap((s, k) => positions[k] === s.start ? [] :
    [`${encodeURIComponent(s.path)}=${s.values[positions[k]]}`]);
  DATA.switches.forEach((s, k) => {
    if (choice[k] !== DATA.programs[0].choice[k])
      parts.push(`${encodeURIComponent(s.path)}=${encodeURIComponent(s.values[choice[k]])}`);
  });
  return parts.join("&");
}

function settled() {  // something was moved
  inputs.forEach(told => told());
  try { history.replaceState(null, "", "#" + settings()); } catch { /* a frame without a place */ }
  simulate();
}

function read() {  // where the link says that sliders stand
  positions = DATA.sliders.map(s => s.start);
  choice = DATA.programs[0].choice.slice();
  for (const part of location.hash.slice(1).split("&")) {
    const [path, value] = part.split("=").map(decodeURIComponent);
    const k = DATA.sliders.findIndex(s => s.path === path);
    if (k >= 0 && isFinite(value)) positions[k] = nearest(DATA.sliders[k].values, Number(value));
    const j = DATA.switches.findIndex(s => s.path === path);
    if (j >= 0) choice[j] = Math.max(0, DATA.switches[j].values.indexOf(value));
  }
  inputs.forEach(told => told());
  simulate();
}

function nearest(values, wanted) {
  return values.reduce((best, v, k) =>
    Math.abs(v - wanted) < Math.abs(values[best] - wanted) ? k : best, 0);
}

// -- what is done with it -------------------------------------------------------------------
find("reset").onclick = () => {
  positions = DATA.sliders.map(s => s.start);
  choice = DATA.programs[0].choice.slice();
  settled();
};
find("link").onclick = async () => {
  const link = location.href.split("#")[0] + "#" + settings();
  try {
    await navigator.clipboard.writeText(link);
    find("outcome").textContent = "The link is in the clipboard.";
  } catch { prompt("The link:", link); }
};
find("csv").onclick = () => {
  const lines = [["time [s]", ...curves.map(c => c.label)].map(h => `"${h}"`).join(",")];
  const t = curves[0].t;
  for (let i = 0; i < t.length; i++) lines.push([t[i], ...curves.map(c => c.y[i])].join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], {type: "text/csv"}));
  link.download = `${DATA.name}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
};
find("settings").onsubmit = event => event.preventDefault();
if (!inputs.length) find("settings").hidden = find("reset").hidden = find("link").hidden = true;
window.addEventListener("hashchange", read);
read();
