// The charts of a page: one for each figure, with a line for each run and split, and the controls that they share.

// order lists the figures that come first; the task's measure comes before the ponder times.
const order = ["loss", "cross_entropy", "token_accuracy", "sequence_accuracy", "decoded_", "encoder_ponder", "decoder_ponder", "learning_rate", "gradient_norm",
  "tokens_per_second", "updates_per_second", "compile_share"];
const rank = name => {
  const at = order.findIndex(first => name === first || first.endsWith("_") && name.startsWith(first));
  return at < 0 ? order.length : at;
};
const hidden = new Set(["tokens", "sequences"]); // counts, not figures

class Charts {
  // box holds the charts, controls the choices, legend the runs. runs: [{name, rows}], rows as package curves writes them.
  constructor(box, controls, legend, runs) {
    Object.assign(this, { box, legend, charts: new Map(), time: false, log: false, smooth: 0 });
    this.runs = runs.map((run, i) => ({ rows: [], ...run, colour: `var(--run-${i % 8})`, shown: true }));
    this.makeControls(controls);
    this.makeLegend();
    new ResizeObserver(() => this.soon()).observe(box);
    this.soon();
  }

  makeControls(controls) {
    const views = element("span", "views");
    views.setAttribute("role", "radiogroup");
    views.setAttribute("aria-label", "horizontal axis");
    for (const [text, time] of [["updates", false], ["time", true]]) {
      const button = element("button", "", text);
      button.type = "button";
      button.dataset.axis = text;
      button.setAttribute("role", "radio");
      button.addEventListener("click", () => { this.time = time; this.choose(); });
      views.append(button);
    }
    radioKeys(views);
    const smooth = Object.assign(element("input"), { type: "range", min: 0, max: 0.98, step: 0.02, value: 0, id: "smooth" });
    smooth.addEventListener("input", () => { this.smooth = Number(smooth.value); this.soon(); });
    const log = Object.assign(element("input"), { type: "checkbox", id: "log" });
    log.addEventListener("change", () => { this.log = log.checked; this.soon(); });
    controls.append(views, element("label", "option", "smooth ", smooth), element("label", "option", log, " logarithmic"));
    controls.hidden = false;
    this.views = views;
    this.choose();
  }

  choose() {
    for (const button of this.views.children) {
      const chosen = (button.dataset.axis === "time") === this.time;
      button.setAttribute("aria-checked", chosen);
      button.tabIndex = chosen ? 0 : -1;
    }
    this.soon();
  }

  makeLegend() {
    this.legend.replaceChildren(...this.runs.map(run => {
      const key = element("i", "key"), button = element("button", "", key, run.name);
      key.style.background = run.colour;
      run.label = button.appendChild(element("small", "", run.note ?? ""));
      button.type = "button";
      button.setAttribute("aria-pressed", true);
      button.addEventListener("click", () => {
        run.shown = !run.shown;
        button.setAttribute("aria-pressed", run.shown);
        this.soon();
      });
      return element("li", "", button);
    }));
  }

  // add adds rows to a run; again, they replace those that it has.
  add(index, rows, again) {
    const run = this.runs[index];
    if (again) run.rows = [];
    run.rows.push(...rows);
    this.soon();
  }

  // soon draws before the next frame.
  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  draw() {
    const names = new Set(this.runs.flatMap(run => run.rows.length ? run.rows.flatMap(row => Object.keys(row.values)) : []));
    const list = [...names].filter(name => !hidden.has(name) && this.varies(name)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    for (const [name, chart] of this.charts) if (!list.includes(name)) { chart.node.remove(); this.charts.delete(name); }
    list.forEach((name, i) => {
      const chart = this.charts.get(name) ?? new Chart(name);
      this.charts.set(name, chart);
      if (this.box.children[i] !== chart.node) this.box.insertBefore(chart.node, this.box.children[i] ?? null);
    });
    for (const name of list) this.charts.get(name).draw(this.seriesOf(name), this);
    this.box.dataset.drawn = this.runs.map(run => run.rows.length).join(" ");
  }

  // varies reports whether a figure is more than the zeros of a ponder time that a model does not have.
  varies(name) { return !name.endsWith("_ponder") || this.runs.some(run => run.rows.some(row => row.values[name])); }

  seriesOf(name) {
    const series = [];
    for (const run of this.runs) {
      if (!run.shown) continue;
      for (const split of ["training", "validation"]) {
        const points = [];
        for (const row of run.rows) {
          if (row.split === split && row.values[name] !== undefined) points.push({ x: this.time ? row.seconds ?? NaN : row.step, y: row.values[name] });
        }
        if (points.length) series.push({ name: run.name, colour: run.colour, split, points });
      }
    }
    return series;
  }
}
