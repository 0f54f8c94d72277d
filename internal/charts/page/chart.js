// One chart: lines over updates or over time, drawn as SVG.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 244, LEFT = 52, RIGHT = 12, TOP = 8, BOTTOM = 40;

// shape makes an SVG element.
function shape(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// figures formats a number in a few digits.
function figures(v) {
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e6 || size < 1e-3) return v.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(v.toPrecision(4)));
}

// unitOf is the unit in which a time in seconds is shown: its name and its seconds.
function unitOf(s) {
  if (s < 120) return ["s", 1];
  return s < 7200 ? ["min", 60] : ["h", 3600];
}

// duration formats seconds.
function duration(s, [name, seconds] = unitOf(s)) { return `${figures(s / seconds)} ${name}`; }

// ticks chooses about n round values from low to high.
function ticks(low, high, n) {
  const rough = (high - low) / n, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.7);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) list.push(i * step);
  return list;
}

// decades chooses powers of ten from low to high, and more values if there are few.
function decades(low, high) {
  const list = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
    for (const m of high / low < 200 ? [1, 2, 5] : [1]) if (m * 10 ** e >= low && m * 10 ** e <= high) list.push(m * 10 ** e);
  }
  return list.length > 1 ? list : [low, high];
}

// smoothed is the exponential mean of the y of points, without the bias of its beginning.
function smoothed(points, factor) {
  let mean = 0, weight = 0;
  return points.map(p => {
    mean = factor * mean + (1 - factor) * p.y;
    weight = factor * weight + (1 - factor);
    return { ...p, y: mean / weight };
  });
}

// thinned keeps at most one point per pixel column, and the last.
function thinned(points, x) {
  let column = NaN;
  return points.filter((p, i) => {
    const here = Math.round(x(p.x));
    if (here === column && i < points.length - 1) return false;
    column = here;
    return true;
  });
}

// titled is the title of a figure: its name and, if it has one, its unit.
function titled(name) {
  const unit = name.endsWith("_ponder") ? ", steps per position" : name === "cross_entropy" ? ", nats per token" : "";
  return name.replaceAll("_", " ") + unit;
}

// nearest returns the point that is nearest to x; of two as near, the earlier one.
const nearest = (points, x) => points.reduce((best, p) => Math.abs(p.x - x) < Math.abs(best.x - x) ? p : best);

class Chart {
  constructor(name) {
    this.node = element("figure", "chart");
    this.caption = element("figcaption", "", "");
    const title = titled(name);
    this.svg = shape("svg", { role: "group", "aria-roledescription": "chart", tabindex: 0, "aria-label": title });
    this.node.append(element("h3", "", title), this.svg, this.caption);
    this.svg.addEventListener("focus", () => this.caption.setAttribute("aria-live", "polite")); // values change with every movement of a mouse
    this.svg.addEventListener("pointermove", event => this.point(event.clientX - this.svg.getBoundingClientRect().left));
    this.svg.addEventListener("pointerleave", () => this.point(null));
    this.svg.addEventListener("blur", () => {
      this.caption.removeAttribute("aria-live");
      this.point(null);
    });
    this.svg.addEventListener("keydown", event => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || !this.width) return;
      event.preventDefault();
      const inner = this.width - LEFT - RIGHT;
      this.point(clamp((this.at ?? (by > 0 ? LEFT : this.width - RIGHT)) + by * inner / 40, LEFT, this.width - RIGHT));
    });
  }

  // draw draws series: {name, colour, split, points: [{x, y}]}, by rising x.
  draw(series, { time, log, smooth }) {
    this.series = series.map(s => ({ ...s, points: s.points.filter(p => Number.isFinite(p.x) && Number.isFinite(p.y) && (!log || p.y > 0)) })).filter(s => s.points.length);
    this.time = time;
    this.width = Math.round(this.svg.getBoundingClientRect().width) || 400;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.svg.replaceChildren();
    this.node.dataset.points = this.series.reduce((n, s) => n + s.points.length, 0);
    if (!this.series.length) {
      this.svg.append(shape("text", { x: LEFT, y: HEIGHT / 2 }, "no figures yet"));
      return;
    }
    this.scale(log);
    this.axes(log);
    for (const s of this.series) {
      const dots = s.split === "validation", mean = smooth > 0 && !dots;
      this.line(s, s.points, `line ${s.split}${mean ? " raw" : ""}`);
      if (mean) this.line(s, smoothed(s.points, smooth), "line smooth");
      if (dots && s.points.length < 60) for (const p of s.points) this.svg.append(shape("circle", { cx: this.x(p.x), cy: this.y(p.y), r: 2.4, fill: s.colour }));
    }
    this.cursor = shape("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    this.svg.append(this.cursor);
    this.point(this.at ?? null);
  }

  // scale makes x and y, which map values to pixels.
  scale(log) {
    const all = this.series.flatMap(s => s.points);
    const range = of => all.reduce(([low, high], p) => [Math.min(low, of(p)), Math.max(high, of(p))], [Infinity, -Infinity]);
    this.xs = range(p => p.x);
    let [low, high] = range(p => p.y);
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - (Math.abs(low) / 2 || 0.5), high + (Math.abs(high) / 2 || 0.5)];
    this.ys = [low, high];
    const width = this.xs[1] - this.xs[0] || 1, inner = this.width - LEFT - RIGHT, along = v => log ? Math.log(v) : v;
    this.x = v => LEFT + inner * (v - this.xs[0]) / width;
    this.y = v => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (along(v) - along(low)) / (along(high) - along(low));
  }

  axes(log) {
    for (const v of log ? decades(...this.ys) : ticks(...this.ys, 4)) {
      this.svg.append(shape("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: this.y(v), y2: this.y(v) }));
      this.svg.append(shape("text", { x: LEFT - 5, y: this.y(v) + 4, "text-anchor": "end" }, figures(v)));
    }
    const unit = this.time ? unitOf(this.xs[1]) : ["", 1], [low, high] = this.xs.map(v => v / unit[1]);
    const marks = low === high ? [low] : ticks(low, high, Math.max(2, Math.floor(this.width / 110)));
    this.svg.append(shape("text", { x: (LEFT + this.width - RIGHT) / 2, y: HEIGHT - 5, "text-anchor": "middle" }, this.time ? "time of training" : "updates"));
    for (const v of marks) {
      const text = this.time ? duration(v * unit[1], unit) : figures(v);
      this.svg.append(shape("text", { x: this.x(v * unit[1]), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, text));
    }
  }

  line(s, points, name) {
    const path = thinned(points, this.x).map((p, i) => `${i ? "L" : "M"}${this.x(p.x).toFixed(1)} ${this.y(p.y).toFixed(1)}`).join("");
    this.svg.append(shape("path", { class: name, d: path, stroke: s.colour }));
  }

  // place names a place on the horizontal axis.
  place(x) { return this.time ? `after ${duration(x)}` : `update ${Math.round(x)}`; }

  // point shows the values at the point nearest to a place, in pixels; null ends that. Where a line has no point, its nearest one is named.
  point(at) {
    this.at = at;
    if (!this.cursor || !this.series.length) return;
    this.cursor.setAttribute("visibility", at === null ? "hidden" : "visible");
    this.caption.replaceChildren();
    const inner = this.width - LEFT - RIGHT, under = this.xs[0] + (this.xs[1] - this.xs[0]) * (clamp(at ?? LEFT, LEFT, this.width - RIGHT) - LEFT) / inner;
    const here = nearest(this.series.map(s => nearest(s.points, under)), under).x;
    if (at !== null) {
      for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, this.x(here));
      this.caption.append(element("span", "", this.place(here)), " ");
    }
    for (const s of this.series) {
      const p = at === null ? s.points.at(-1) : nearest(s.points, here), key = element("i", "key");
      key.style.background = s.colour;
      const elsewhere = at === null || p.x === here ? "" : this.time ? ` (${this.place(p.x)})` : ` (at ${this.place(p.x)})`;
      this.caption.append(element("span", "", key, element("span", "unseen", `${s.name} `), `${s.split} ${figures(p.y)}${elsewhere}`), " ");
    }
  }
}
