// Connects figures, controls, keyboard and address.

class App {
  constructor(data, attentions) {
    this.data = data;
    this.attentions = attentions;
    const last = data.stacks.at(-1);
    if (data.readouts?.length === last.tokens.length) last.readouts = data.readouts; // that of a classifier belongs to no position
    this.state = new State(data);
    this.colours = new Colours();
    this.hovered = null; // a position under the pointer
    this.keyCursor = null;
    this.grid = new Grid(this);
    this.heatmap = new Heatmap(this);
    this.gridPane = new Pane(document.querySelector("#steps .pane"), this.grid);
    this.matrixPane = new Pane(document.querySelector("#matrix .pane"), this.heatmap);
    this.thumbs = new Thumbs(document.querySelector("#heads .thumbs"), this);
    this.controls();
    this.pointers();
    this.state.change(this.state.fields(location.hash), view => this.headsOf(view));
    this.layout();
  }

  get view() { return this.state.view; }
  get step() { return this.state.step; }
  get head() { return this.state.head; }
  get position() { return this.state.position; }
  get cells() { return this.state.cells; }
  get normalize() { return this.state.normalize; }
  get focus() { return this.hovered ?? this.state.position; }
  get attention() { return this.view.attention < 0 ? null : this.attentions[this.view.attention]; }

  headsOf(view) { return view.attention < 0 ? 1 : this.data.attention[view.attention].shape[1]; }
  tokenClass() { return this.data.stacks[this.view.stack].rows ? "sentence" : "token"; }
  headName(head) { return head < 0 ? "mean of heads" : `head ${head + 1}`; }
  halted(query) { return this.step >= this.data.stacks[this.view.stack].updates[query]; }
  // ended is what positions of the stack did that ran fewer steps than others; a rule of an exit may have ended them.
  ended() { return this.data.stacks[this.view.stack].weights ? "halted" : "ended"; }
  keyNames() { return this.view.keys || this.data.stacks[this.view.keyStack].tokens; }
  // keyPosition is the position of a key in the figure; the decoder reads the token before.
  keyPosition(key) { return this.view.causal ? key - 1 : key; }
  keyPlace(key) { return this.view.causal && key === 0 ? "(start)" : `(${this.keyPosition(key) + 1})`; }
  isWrong(n, i) {
    const { expected, stacks } = this.data;
    return Boolean(expected) && n === stacks.length - 1 && stacks[n].id === "decoder" && stacks[n].tokens[i] !== expected[i];
  }

  readout() {
    const list = this.data.readouts, last = this.data.stacks.length - 1;
    if (!list || this.view.stack !== last) return null;
    return this.data.stacks[last].readouts ? list[this.focus] : list[0];
  }

  // row is the attention of the position in focus.
  row() { return this.attention && this.attention.row(this.step, this.head, this.focus); }

  // attended maps the positions of stack n to how strongly they are attended to, null if they are not keys or the position in focus had halted.
  attended(n) {
    const row = n === this.view.keyStack && !this.halted(this.focus) ? this.row() : null;
    if (!row) return null;
    const most = this.normalize ? row.max : 1, map = new Map();
    row.keys.forEach((key, i) => map.set(this.keyPosition(key), row.weights[i] / most));
    return map;
  }

  controls() {
    const views = document.querySelector("#controls .views");
    this.viewButtons = this.data.views.map((view, i) => {
      const button = element("button", "", view.name);
      button.type = "button";
      button.setAttribute("role", "radio");
      button.addEventListener("click", () => this.set({ viewIndex: i }));
      return button;
    });
    if (this.viewButtons.length > 1) views.replaceChildren(...this.viewButtons);
    for (const group of document.querySelectorAll("[role=radiogroup]")) radioKeys(group);
    this.slider = byID("step");
    this.slider.addEventListener("input", () => { this.stop(); this.set({ step: this.slider.valueAsNumber - 1 }); });
    byID("play").addEventListener("click", () => this.timer ? this.stop() : this.play());
    this.cellsBox = byID("cells");
    this.cellsBox.replaceChildren(...["weights", ...this.state.kinds.filter(k => k !== "weights")].map(kind => new Option(this.state.kindName(kind), kind)));
    this.cellsBox.closest("label").hidden = this.cellsBox.length < 2;
    this.cellsBox.addEventListener("change", () => this.set({ cells: this.cellsBox.value }));
    this.normalizeBox = byID("normalize");
    this.normalizeBox.addEventListener("change", () => this.set({ normalize: this.normalizeBox.checked }));
    document.querySelector("#steps .saves").replaceChildren(...saveButtons(this.grid, "steps", () => this.colours));
    document.querySelector("#matrix .saves").replaceChildren(...saveButtons(this.heatmap, "attention", () => this.colours));
    byID("numbers").addEventListener("toggle", () => byID("numbers").querySelector("div").replaceChildren(...numbersTable(this.data)), { once: true });
    byID("controls").hidden = false;
  }

  pointers() {
    const grid = this.gridPane.box, matrix = this.matrixPane.box;
    this.gridPane.canvas.addEventListener("pointermove", e => e.pointerType === "mouse" && this.overGrid(this.grid.hit(...this.gridPane.point(e))));
    this.gridPane.canvas.addEventListener("pointerleave", () => this.overGrid(null));
    this.gridPane.canvas.addEventListener("click", e => this.clickGrid(this.grid.hit(...this.gridPane.point(e))));
    grid.addEventListener("keydown", e => this.pressed(e, grid));
    matrix.addEventListener("keydown", e => this.pressed(e, matrix));
    const cell = e => this.heatmap.hit(...this.matrixPane.point(e), { x: matrix.scrollLeft, y: matrix.scrollTop });
    this.matrixPane.canvas.addEventListener("pointermove", e => e.pointerType === "mouse" && this.overMatrix(cell(e)));
    this.matrixPane.canvas.addEventListener("pointerleave", () => this.overMatrix(null));
    this.matrixPane.canvas.addEventListener("click", e => {
      const at = cell(e);
      if (!at) return;
      this.keyCursor = at.key;
      this.set({ position: at.query });
    });
  }

  overGrid(hit) {
    const hovered = hit && hit.stack === this.view.stack ? hit.position : null;
    if (hovered === this.hovered) return;
    this.hovered = hovered;
    this.request();
  }

  overMatrix(at) {
    this.hovered = at ? at.query : null;
    this.keyCursor = at ? at.key : null;
    this.request();
  }

  // clickGrid chooses a position, its stack if it is another one, and the step if a cell was hit.
  clickGrid(hit) {
    if (!hit) return;
    this.stop();
    const fields = { position: hit.position, ...(hit.step !== null && { step: hit.step }) };
    if (hit.stack !== this.view.stack) {
      const views = this.data.views, same = views.findIndex(v => v.stack === hit.stack && v.cross);
      fields.viewIndex = same >= 0 ? same : views.findIndex(v => v.stack === hit.stack);
    }
    this.set(fields);
  }

  pressed(event, box) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { state } = this, matrix = box === this.matrixPane.box, last = state.stack.tokens.length - 1;
    const moveKey = by => { this.keyCursor = clamp((this.keyCursor ?? -1) + by, 0, this.attention.keys - 1); return {}; };
    const keys = {
      ArrowLeft: () => matrix ? moveKey(-1) : { position: state.position - 1 }, ArrowRight: () => matrix ? moveKey(1) : { position: state.position + 1 },
      ArrowUp: () => matrix ? { position: state.position - 1 } : { step: state.step - 1 },
      ArrowDown: () => matrix ? { position: state.position + 1 } : { step: state.step + 1 },
      Home: () => ({ position: 0 }), End: () => ({ position: last }),
      "[": () => ({ head: state.head - 1 }), "]": () => ({ head: state.head + 1 }),
      v: () => ({ viewIndex: (state.viewIndex + 1) % this.data.views.length }), n: () => ({ normalize: !state.normalize }),
      " ": () => { if (this.timer) this.stop(); else this.play(); return {}; },
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    this.hovered = null;
    this.set(action());
    this.reveal(matrix);
  }

  // reveal scrolls the chosen position into view.
  reveal(matrix) {
    const { heatmap } = this;
    if (matrix) {
      const key = this.keyCursor ?? 0;
      this.matrixPane.reveal(heatmap.left + key * heatmap.cell, heatmap.top + this.position * heatmap.cell, heatmap.cell, heatmap.cell, heatmap.left, heatmap.top);
      return;
    }
    const box = this.grid.blocks[this.view.stack].whole(this.position);
    this.gridPane.reveal(box.x, box.y - 40, box.width, box.height + 60);
  }

  // set changes what is shown.
  set(fields) {
    const before = this.view, cells = this.cells;
    this.state.change(fields, view => this.headsOf(view));
    if (this.view !== before) {
      this.keyCursor = null;
      this.hovered = null;
      this.prepareMatrix();
    }
    if (this.cells !== cells) this.layoutGrid();
    this.request();
    clearTimeout(this.writing);
    this.writing = setTimeout(() => history.replaceState(null, "", this.state.fragment()), 200);
  }

  play() {
    if (this.step === this.state.stack.steps - 1) this.set({ step: 0 });
    this.timer = setInterval(() => {
      if (this.step < this.state.stack.steps - 1) this.set({ step: this.step + 1 });
      else this.stop();
    }, 700);
    this.request();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.request();
  }

  // close ends what would still write to the document, where another trace is shown now.
  close() {
    clearInterval(this.timer);
    clearTimeout(this.writing);
    cancelAnimationFrame(this.waiting);
  }

  // request paints before the next frame, once.
  request() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.paint();
    });
  }

  layoutGrid() {
    this.grid.layout(this.gridPane.box.clientWidth);
    this.gridPane.fit();
  }

  layout() {
    this.layoutGrid();
    this.prepareMatrix();
    this.paint();
    this.reveal(false);
  }

  // prepareMatrix lays out the matrix of the view, if it has attention and that is unpacked.
  prepareMatrix() {
    byID("heads").hidden = !this.attention;
    if (!this.attention) return;
    byID("heads-title").textContent = this.view.title;
    this.thumbs.build();
    this.thumbs.paint();
    this.heatmap.layout(this.matrixPane.box.clientWidth);
    this.matrixPane.fit();
  }

  paint() {
    this.gridPane.paint();
    if (this.attention) {
      this.thumbs.paint();
      this.matrixPane.paint();
      byID("matrix-text").replaceChildren(...this.matrixText());
      byID("matrix-legend").replaceChildren(...matrixLegend(this));
    }
    byID("details").replaceChildren(...detailsOf(this));
    byID("steps-legend").replaceChildren(...gridLegend(this));
    this.paintControls();
  }

  paintControls() {
    const { steps } = this.state.stack;
    this.viewButtons.forEach((b, i) => {
      b.setAttribute("aria-checked", `${i === this.state.viewIndex}`);
      b.tabIndex = i === this.state.viewIndex ? 0 : -1;
    });
    Object.assign(this.slider, { max: steps, value: this.step + 1, disabled: steps < 2 });
    byID("play").disabled = steps < 2;
    byID("step-name").textContent = `step ${this.step + 1} of ${steps}`;
    byID("play").textContent = this.timer ? "❚❚" : "▶";
    byID("play").setAttribute("aria-label", this.timer ? "pause" : "play");
    this.cellsBox.value = this.cells;
    this.normalizeBox.checked = this.normalize;
    const text = this.spoken();
    if (!this.timer && byID("live").textContent !== text) byID("live").textContent = text;
  }

  // spoken is what screen readers say after a change: what is chosen and, if a key is, its weight.
  spoken() {
    const { stack } = this.state, parts = [stack.name, `step ${this.step + 1}`, `position ${this.position + 1}`, stack.tokens[this.position]];
    if (this.attention) parts.push(this.headName(this.head), ...(this.normalize ? ["normalized colours"] : []));
    if (!this.attention || this.keyCursor === null || this.hovered !== null) return parts.join(", ");
    return `${parts.join(", ")}. ${element("p", "", ...this.matrixText()).textContent}`;
  }

  // matrixText says what is shown and what the cell in focus is.
  matrixText() {
    const { attention, keyCursor: key } = this, name = token => element("bdi", this.tokenClass(), quoted(token));
    const parts = [element("strong", "", `Step ${this.step + 1}, ${this.headName(this.head)}. `), "Query ", name(this.heatmap.queryNames[this.focus]), ` (${this.focus + 1})`];
    if (key === null) return [...parts, ": choose a key to read its number."];
    const keyName = [name(this.keyNames()[key]), ` ${this.keyPlace(key)}`];
    if (this.view.causal && key > this.focus) return [...parts, " cannot see ", ...keyName, ", which comes later."];
    const weight = attention.at(this.step, this.head, this.focus, key);
    const halted = this.halted(this.focus) ? `; it had ${this.ended()} before this step` : "";
    if (weight === null) return [...parts, " gives ", ...keyName, ` less than to its 16 largest${halted}.`];
    return [...parts, ` gives ${share(weight)} to `, ...keyName, `${halted}.`];
  }
}

let app = null;

// show shows a trace in the figures of the document.
function show(data, attentions) {
  app?.close();
  app = new App(data, attentions);
  window.tracePage = app; // for the console and for tests
}

// unpacked reads the attention of all views.
async function unpacked(data) {
  const list = [];
  for (const packed of data.attention || []) list.push(await Attention.read(packed));
  return list;
}

const repaint = () => {
  if (!app) return;
  app.colours = new Colours();
  app.layout();
};
let width = 0;
new ResizeObserver(([entry]) => {
  if (entry.contentRect.width === width) return;
  width = entry.contentRect.width;
  app?.layout();
}).observe(document.querySelector("main"));
window.addEventListener("hashchange", () => app?.set(app.state.fields(location.hash)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
const printing = paper => { document.documentElement.classList.toggle("printing", paper); repaint(); };
window.addEventListener("beforeprint", () => printing(true));
window.addEventListener("afterprint", () => printing(false));
