// Draws the attention figures of the page: an overview of all steps and heads, and the chosen matrix with labels,
// pointer and keyboard. The numbers of each figure stand beside it as JSON.
(() => {
  "use strict";

  // element makes <tag class=...> holding children, which are nodes or plain text; nothing is parsed as HTML.
  function element(tag, className, ...children) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  }

  // shade is how dark a share is drawn, 0..100: its square root, as everywhere on the page.
  const shade = share => Math.round(100 * Math.sqrt(Math.min(1, Math.max(0, share))));

  // ramp reads the 101 shades and the page's colour from the style sheet, so colours are written down once.
  function ramp() {
    const probe = document.body.appendChild(element("i"));
    const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
      .getContext("2d", { willReadFrequently: true });
    const rgb = color => {
      probe.style.color = color;
      pen.fillStyle = getComputedStyle(probe).color;
      pen.fillRect(0, 0, 1, 1);
      return pen.getImageData(0, 0, 1, 1).data.slice(0, 3);
    };
    const shades = [];
    for (let level = 0; level <= 100; level++) shades.push(rgb(`color-mix(in oklab, var(--full) ${level}%, var(--none))`));
    const page = rgb("var(--page)");
    probe.remove();
    return { shades, page };
  }

  class Figure {
    constructor(figure, data) {
      this.data = data;
      this.root = figure.querySelector(".explorer");
      this.name = figure.querySelector("h3").textContent;
      this.id = figure.id;
      this.steps = this.data.weights.length;
      this.heads = this.data.weights[0].length;
      this.cell = 30; // pixels
      this.step = this.firstShown();
      this.head = this.heads > 1 ? -1 : 0; // -1: the mean of all heads
      this.means = this.data.weights.map(mean);
      this.build();
      this.choose(this.step, this.head);
    }

    // firstShown is the last step that at least half of the positions still ran: attention is sharpest late, and
    // of little interest once nearly everything has halted.
    firstShown() {
      for (let step = this.steps - 1; step > 0; step--) {
        if (2 * this.data.updates.filter(n => n > step).length >= this.data.updates.length) return step;
      }
      return 0;
    }

    rows(step, head) { return head < 0 ? this.means[step] : this.data.weights[step][head]; }
    halted(step, query) { return step >= this.data.updates[query]; }
    hidden(query, key) { return this.data.causal && key > query; }
    headName(head) { return head < 0 ? "mean of heads" : `head ${head + 1}`; }

    build() {
      this.status = element("span");
      this.back = this.move("‹ earlier", -1);
      this.forward = this.move("later ›", 1);
      this.halts = element("p", "halts");
      this.readout = element("p", "readout");
      this.readout.id = `${this.id}-readout`;
      this.readout.setAttribute("aria-live", "polite");
      this.root.replaceChildren(this.overview(), element("div", "detail",
        element("p", "status", element("span", "moves", this.back, this.forward), this.status),
        this.halts, this.readout, this.matrix(), this.legend()));
    }

    move(text, by) {
      const button = element("button", "", text);
      button.type = "button";
      button.setAttribute("aria-label", by < 0 ? "earlier step" : "later step");
      button.addEventListener("click", () => this.choose(this.step + by, this.head));
      return button;
    }

    // overview is one small matrix per head and step; its row and column titles are radio buttons.
    overview() {
      this.thumbs = [];
      this.stepRadios = this.radios("step", this.steps, t => `${t + 1}`, t => this.choose(t, this.head));
      const list = Array.from({ length: this.heads }, (_, k) => k);
      if (this.heads > 1) list.unshift(-1);
      this.headRadios = this.radios("head", list.length, i => this.headName(list[i]), i => this.choose(this.step, list[i]));
      this.headList = list;
      const titles = element("tr", "", element("th", "", "step"), ...this.stepRadios.map(r => element("th", "", r)));
      const body = element("tbody");
      list.forEach((head, i) => {
        const row = body.appendChild(element("tr", "", element("th", "", this.headRadios[i])));
        for (let step = 0; step < this.steps; step++) row.append(this.thumb(step, head));
      });
      this.table = element("table", "", element("thead", "", titles), body);
      this.scroller = element("div", "scroll overview", this.table);
      return this.scroller;
    }

    radios(kind, count, name, chosen) {
      return Array.from({ length: count }, (_, i) => {
        const input = element("input");
        Object.assign(input, { type: "radio", name: `${this.id}-${kind}` });
        input.setAttribute("aria-label", `${kind} ${name(i)}`);
        input.addEventListener("change", () => chosen(i));
        return element("label", "", input, name(i));
      });
    }

    thumb(step, head) {
      const { queries, keys } = this.data;
      const side = this.steps > 8 ? 48 : 66;
      const scale = side / Math.max(queries.length, keys.length);
      const canvas = element("canvas");
      canvas.style.width = `${Math.max(14, Math.round(keys.length * scale))}px`;
      canvas.style.height = `${Math.max(14, Math.round(queries.length * scale))}px`;
      canvas.title = `step ${step + 1}, ${this.headName(head)}`;
      canvas.addEventListener("click", () => this.choose(step, head));
      const box = element("td", "", canvas);
      this.thumbs.push({ step, head, canvas, box });
      return box;
    }

    // matrix is the large view: labels that stay in sight while the field scrolls, and a cursor.
    matrix() {
      this.canvas = element("canvas");
      this.cursor = element("div", "cursor");
      this.field = element("div", "field", this.canvas, this.cursor);
      this.top = element("div", "top");
      this.left = element("div", "left");
      this.box = element("div", "matrix", element("div", "sheet",
        element("div", "corner", element("span", "", "looked at (key) →"), element("span", "", "looking (query) ↓")),
        this.top, this.left, this.field));
      Object.assign(this.box, { tabIndex: 0 });
      this.box.setAttribute("role", "application");
      this.box.setAttribute("aria-label", `${this.name}: matrix, move with the arrow keys`);
      this.box.setAttribute("aria-describedby", this.readout.id);
      this.canvas.addEventListener("pointermove", e => this.pointed(e));
      this.canvas.addEventListener("pointerdown", e => this.pointed(e));
      this.box.addEventListener("keydown", e => this.pressed(e));
      this.box.addEventListener("focus", () => this.at || this.show(0, 0));
      return this.box;
    }

    legend() {
      const item = (text, level) => {
        const swatch = element("i", level === null ? "hidden" : "");
        swatch.style.setProperty("--level", `${level}%`);
        return element("li", "", swatch, text);
      };
      const list = element("ul", "legend", element("li", "", "share of attention"),
        ...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1].map(v => item(`${v}`, shade(v))));
      if (this.data.causal) list.append(item("cannot be seen", null));
      return list;
    }

    choose(step, head) {
      this.step = Math.min(this.steps - 1, Math.max(0, step));
      this.head = head;
      this.stepRadios[this.step].firstChild.checked = true;
      this.headRadios[this.headList.indexOf(head)].firstChild.checked = true;
      for (const t of this.thumbs) t.box.className = t.step === this.step && t.head === head ? "chosen" : "";
      this.back.disabled = this.step === 0;
      this.forward.disabled = this.step === this.steps - 1;
      this.status.replaceChildren(element("strong", "", `Step ${this.step + 1} of ${this.steps}, ${this.headName(head)}`));
      this.halts.textContent = this.haltedSentence();
      this.layout();
      const chosen = this.thumbs.find(t => t.step === this.step && t.head === head).box;
      reveal(this.scroller, chosen.offsetLeft, chosen.offsetWidth, "Left", "Width", 0);
      this.at ? this.show(...this.at) : this.readout.textContent =
        "Point at a cell, or choose the matrix and move with the arrow keys, to read its number.";
    }

    haltedSentence() {
      const total = this.data.queries.length;
      const count = this.data.queries.filter((_, i) => this.halted(this.step, i)).length;
      if (count === 0) return total === 1 ? "The position is still running." : `All ${total} positions are still running.`;
      return `${count} of ${total} positions had halted before this step. Their rows are dimmed: ` +
        "what they look at now no longer enters their own result.";
    }

    // layout sizes the cells to the room there is, writes the labels and paints.
    layout() {
      const { queries, keys } = this.data;
      this.labels(this.left, queries, "height", false, i => this.halted(this.step, i));
      const total = this.root.clientWidth || 900, labels = Math.max(105, this.left.offsetWidth);
      const beside = total - this.table.offsetWidth - labels - 48;
      const fits = beside >= Math.max(320 - labels, 22 * keys.length);
      this.root.classList.toggle("beside", fits);
      const room = fits ? beside : total - labels - 10;
      const least = Math.max(queries.length, keys.length) > 400 ? 3 : 11;
      this.cell = Math.min(30, Math.max(least, Math.floor(room / keys.length)));
      const long = keys.some(s => s.length > 2);
      this.labels(this.top, keys, "width", long, () => false);
      this.labels(this.left, queries, "height", false, i => this.halted(this.step, i));
      this.paint();
    }

    labels(box, tokens, side, long, halted) {
      const every = Math.ceil(11 / this.cell), numbers = this.cell >= 18 ? 1 : 5;
      box.replaceChildren(...tokens.map((token, i) => {
        const label = element("span", `${long ? "long" : ""} ${halted(i) ? "halted" : ""}`);
        label.style[side] = `${this.cell}px`;
        if (i % every === 0) label.append(element("b", "", token));
        if (i === 0 || (i + 1) % numbers === 0) label[side === "width" ? "append" : "prepend"](element("i", "", `${i + 1}`));
        return label;
      }));
    }

    paint() {
      this.colors = ramp();
      for (const thumb of this.thumbs) this.paintThumb(thumb);
      const { queries, keys } = this.data, cell = this.cell;
      const width = keys.length * cell, height = queries.length * cell;
      const scale = Math.max(width, height) > 4000 ? 1 : Math.max(2, window.devicePixelRatio || 1);
      Object.assign(this.canvas, { width: width * scale, height: height * scale });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
      const pen = this.canvas.getContext("2d"), gap = cell > 6 ? 1 : 0;
      pen.scale(scale, scale);
      this.rows(this.step, this.head).forEach((row, i) => row.forEach((share, j) => {
        if (this.hidden(i, j)) return;
        pen.fillStyle = `rgb(${this.color(share, this.halted(this.step, i))})`;
        pen.fillRect(j * cell, i * cell, cell - gap, cell - gap);
      }));
    }

    // color of a share; a halted position's row is three parts page to one part colour.
    color(share, halted) {
      const full = this.colors.shades[shade(share)], page = this.colors.page;
      return halted ? full.map((v, c) => Math.round(0.25 * v + 0.75 * page[c])) : full;
    }

    // paintThumb paints pixel by pixel; a pixel that covers several cells shows the largest of them.
    paintThumb({ step, head, canvas }) {
      const width = canvas.width = parseInt(canvas.style.width) * 2, height = canvas.height = parseInt(canvas.style.height) * 2;
      const pen = canvas.getContext("2d"), image = pen.createImageData(width, height), rows = this.rows(step, head);
      const { queries, keys } = this.data;
      for (let y = 0; y < height; y++) {
        const [i0, i1] = span(y, height, queries.length);
        for (let x = 0; x < width; x++) {
          const [j0, j1] = span(x, width, keys.length);
          let most = -1, halted = true;
          for (let i = i0; i < i1; i++) {
            halted &&= this.halted(step, i);
            for (let j = j0; j < j1; j++) if (!this.hidden(i, j) && rows[i][j] > most) most = rows[i][j];
          }
          if (most < 0) continue;
          image.data.set(this.color(most, halted), 4 * (y * width + x));
          image.data[4 * (y * width + x) + 3] = 255;
        }
      }
      pen.putImageData(image, 0, 0);
    }

    pointed(event) {
      const box = this.canvas.getBoundingClientRect();
      this.show(Math.floor((event.clientY - box.top) * this.data.queries.length / box.height),
        Math.floor((event.clientX - box.left) * this.data.keys.length / box.width));
    }

    pressed(event) {
      const [i, j] = this.at || [0, 0];
      const to = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
        Home: [i, 0], End: [i, this.data.keys.length - 1] }[event.key];
      if (!to) return;
      event.preventDefault();
      this.show(...to);
      this.cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
    }

    show(i, j) {
      const { queries, keys } = this.data;
      i = Math.min(queries.length - 1, Math.max(0, i));
      j = Math.min(keys.length - 1, Math.max(0, j));
      this.at = [i, j];
      Object.assign(this.cursor.style, { display: "block", left: `${j * this.cell - 2}px`, top: `${i * this.cell - 2}px`,
        width: `${this.cell + 3}px`, height: `${this.cell + 3}px` });
      this.left.childNodes.forEach((label, n) => label.classList.toggle("on", n === i));
      this.top.childNodes.forEach((label, n) => label.classList.toggle("on", n === j));
      reveal(this.box, this.left.offsetWidth + j * this.cell, this.cell, "Left", "Width", this.left.offsetWidth);
      reveal(this.box, this.top.offsetHeight + i * this.cell, this.cell, "Top", "Height", this.top.offsetHeight);
      const query = ["query ", token(queries[i]), ` (position ${i + 1}) `];
      const key = [token(keys[j]), ` (position ${j + 1})`];
      const share = this.rows(this.step, this.head)[i][j];
      this.readout.replaceChildren(...query, ...(this.hidden(i, j)
        ? ["cannot see ", ...key, ", which comes later."]
        : [`gives ${this.data.levels ? "about " : ""}${share >= 0.01 || share === 0 ? share.toFixed(2) : share.toFixed(4)} of its attention to `, ...key,
          this.halted(this.step, i) ? `; it had halted after step ${this.data.updates[i]}.` : "."]));
    }
  }

  const token = text => element("span", "token", `‘${text}’`);

  // reveal scrolls a box, and nothing around it, until what is selected in it is in view, not below its sticky labels.
  function reveal(box, start, size, side, extent, labels) {
    const scroll = `scroll${side}`, seen = box[`client${extent}`];
    if (start - box[scroll] < labels) box[scroll] = start - labels;
    else if (start + size - box[scroll] > seen) box[scroll] = start + size - seen;
  }

  // span is the range of cells that pixel at of total covers, at least one.
  function span(at, total, cells) {
    const first = Math.floor(at * cells / total);
    return [first, Math.max(first + 1, Math.floor((at + 1) * cells / total))];
  }

  // mean is the average of all heads' matrices.
  function mean(heads) {
    return heads[0].map((row, i) => row.map((_, j) => heads.reduce((sum, head) => sum + head[i][j], 0) / heads.length));
  }

  // unpack reads the numbers of a large figure: compressed, their low bytes and then their high bytes, or their shades.
  async function unpack(data) {
    if (!data.packed) return data;
    const packed = Uint8Array.from(atob(data.packed), c => c.charCodeAt(0));
    const unpacked = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
    const bytes = new Uint8Array(await unpacked.arrayBuffer()), total = bytes.length / 2;
    const number = at => data.levels ? (bytes[at] / data.levels) ** 2 : (bytes[at] + 256 * bytes[total + at]) / 10000;
    let next = 0;
    const list = ([length, ...inner]) => Array.from({ length }, () => inner.length ? list(inner) : number(next++));
    data.weights = list(data.shape);
    return data;
  }

  const figures = [];
  (async () => {
    for (const figure of document.querySelectorAll("figure.attention")) {
      figures.push(new Figure(figure, await unpack(JSON.parse(figure.querySelector("script").textContent))));
    }
  })();
  const again = paper => {
    document.documentElement.classList.toggle("printing", paper);
    if (paper) document.querySelectorAll("details").forEach(d => { d.open = true; });
    figures.forEach(f => f.paint());
  };
  let waiting = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => figures.forEach(f => { f.layout(); if (f.at) f.show(...f.at); }));
  });
  window.addEventListener("beforeprint", () => again(true));
  window.addEventListener("afterprint", () => again(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(false));
})();
