"use strict";
// A run: WebAssembly that is told where sliders stand and gives points and events. No page here.
const POINTS = 900;  // evenly over the run, beside the ends of steps and both sides of events

function bytes(text) { return Uint8Array.from(atob(text), c => c.charCodeAt(0)); }

async function unpacked(text) {
  const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Run {
  // program: of the page's data; sliders: likewise; span: start and end in s; width: variables
  static async made(program, sliders, span, width) {
    const run = new Run();
    Object.assign(run, {program, span, width});
    const {instance} = await WebAssembly.instantiate(await unpacked(program.wasm), {env: Math});
    run.code = instance.exports;
    run.starts = sliders.map(s => s.start);
    run.si = sliders.map(s => new Float64Array(bytes(s.si).buffer));
    run.words = program.sliders.map(s => s.follows.map(f => bytes(f.words)));
    return run;
  }

  // At the start, with sliders at these positions. Where Python has told all that follows from
  // those that are moved, that is the start; else it is decided anew.
  begin(positions) {
    const base = this.code.restart(), memory = this.code.memory.buffer;
    const moved = positions.flatMap((at, k) => at === this.starts[k] ? [] : [k]);
    const whole = moved.every(k => this.program.sliders[k].whole);
    for (const k of moved) {
      const at = positions[k], slider = this.program.sliders[k];
      new DataView(memory).setFloat64(base + slider.at, this.si[k][at], true);
      slider.follows.forEach((one, j) => {
        if (one.kept || whole)
          new Uint8Array(memory).set(this.words[k][j].subarray(8 * at, 8 * at + 8), base + one.at);
      });
    }
    this.code.set_off(this.span[1], (this.span[1] - this.span[0]) / POINTS, !whole);
    this.status = 1;
  }

  go(until) {  // on, until a time of the clock in ms; whether it is over
    while (this.status === 1 && performance.now() < until) this.status = this.code.go();
    return this.status !== 1;
  }

  get failure() {  // why it ended early
    if (this.status !== 2) return "";
    const memory = new Uint8Array(this.code.memory.buffer), said = from =>
      new TextDecoder().decode(memory.subarray(from, memory.indexOf(0, from)));
    const who = Array.from({length: this.code.relation_count()}, (_, r) => said(this.code.culprit(r)))
      .filter(Boolean);
    return `at t = ${+this.code.reached().toPrecision(9)} s ${said(this.code.reason())}` +
      (who.length ? said(this.code.before_names()) : "") + who.join(", ");
  }

  points() {  // times, and values in SI units, variable by variable
    const n = this.code.point_count(), w = this.width + 1;
    const rows = new Float64Array(this.code.memory.buffer, this.code.point_rows(), n * w);
    return Array.from({length: w}, (_, k) => Float64Array.from({length: n}, (_, i) => rows[i * w + k]));
  }

  events() {  // time, component and what happened
    const n = this.code.event_count(), flat = new Float64Array(
      this.code.memory.buffer, this.code.event_rows(), n * 5);
    const rows = this.kept(Array.from({length: n}, (_, i) => flat.subarray(5 * i, 5 * i + 5)));
    const who = row => this.program.assigned[row[2]];
    const acted = new Set(rows.flatMap(row => row[1] === 3 ? [who(row).by + row[4]] : []));
    const found = [], news = {};  // what a condition has assigned at an event is told as one
    for (const row of rows) {
      const [t, what, k, after, first] = row;
      if (what === 0) {
        const told = this.program.relations[k];
        if (told && !acted.has(told[0][0] + first)) found.push([t, ...told[after > 0.5 ? 1 : 0]]);
      } else if (what === 3) {
        const one = who(row), key = `${first} ${one.condition}`;
        const value = +((after - one.offset) / one.factor).toPrecision(6);
        const text = `${one.name} becomes ${value} ${one.unit}`.trim();
        if (news[key]) news[key][2] += `, ${text}`;
        else found.push(news[key] = [t, one.by, text]);
      } else {
        const one = this.program.elements[k];
        if (one) found.push([t, one.name, one.words[what === 2 && after < 0 ? "struck" : String(after)]]);
      }
    }
    return found;
  }

  kept(rows) {  // but for a rest of one step in which friction turns round: time steps cannot tell it
    const {step, modes, elements} = this.program, passed = new Map(), gone = new Set();
    for (const row of step ? rows.filter(row => row[1] === 1 && 1 in elements[row[2]].words) : []) {
      const [before, rest] = passed.get(row[2]) ?? [null, null];
      const was = before ? before[3] : modes[row[2]];
      if (rest && rest[3] === 0 && was * row[3] < 0 && row[0] - rest[0] < 1.5 * step) gone.add(rest);
      passed.set(row[2], [rest, row]);
    }
    return rows.filter(row => !gone.has(row));
  }
}
