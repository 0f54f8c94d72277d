// The attention of one step and head as a matrix, and small matrices of all heads side by side.

class Heatmap {
  constructor(app) { this.app = app; }

  get attention() { return this.app.attention; }

  // layout sizes the cells to the room there is.
  layout(width) {
    const { app } = this, { queries, keys } = this.attention;
    const sentences = app.data.stacks[app.view.stack].rows;
    this.font = sentences ? `13px ${app.colours.serif}` : `12px ${app.colours.mono}`;
    this.queryNames = app.data.stacks[app.view.stack].tokens;
    this.keyNames = sentences ? app.keyNames().map(() => "") : app.keyNames(); // the numbers of sentences suffice
    const narrow = width < 560, longest = names => Math.max(...names.map(s => textWidth(s, this.font)));
    this.long = this.keyNames.some(s => s.length > 2);
    this.left = Math.ceil(clamp(longest(this.queryNames) + 40, 84, narrow ? 150 : 320));
    this.top = this.long ? Math.ceil(clamp(longest(this.keyNames) + 30, 40, narrow ? 100 : 150)) : 40;
    this.cell = clamp(Math.floor((width - this.left - 4) / keys), Math.max(queries, keys) > 128 ? 3 : 12, 30);
    this.width = this.left + keys * this.cell + 2;
    this.height = this.top + queries * this.cell + 2;
  }

  draw(paper, visible) {
    const { cell, left, top } = this, { queries, keys } = this.attention, { app } = this;
    const from = visible.whole ? 0 : Math.max(0, Math.floor(visible.y / cell)), to = Math.min(queries, Math.ceil((visible.y + visible.height - top) / cell) + 1);
    if (paper.image) paper.image(app.thumbs.canvasOf(app.head), left, top, keys * cell, queries * cell);
    else for (let i = from; i < to; i++) this.row(paper, i);
    if (cell > 6) {
      for (let j = 1; j <= keys; j++) paper.rect(left + j * cell - 1, top, 1, queries * cell, app.colours.page);
      for (let i = from + 1; i <= to; i++) paper.rect(left, top + i * cell - 1, keys * cell, 1, app.colours.page);
    }
    this.cursor(paper);
    this.labels(paper, visible, from, to);
  }

  // row draws the weights of a query into an SVG; a canvas takes the small matrix, enlarged.
  row(paper, i) {
    const { cell, left, top, app } = this, row = this.attention.row(app.step, app.head, i);
    const alpha = app.halted(i) ? 0.3 : 1, most = app.normalize ? row.max : 1;
    const seen = app.view.causal ? i + 1 : this.attention.keys;
    paper.rect(left, top + i * cell, seen * cell, cell, app.colours.none, alpha);
    row.keys.forEach((key, n) => {
      paper.rect(left + key * cell, top + i * cell, cell, cell, app.colours.attention.of(row.weights[n] / most), alpha);
    });
  }

  // labels stay in view while the matrix scrolls.
  labels(paper, visible, from, to) {
    const { cell, left, top, app, font } = this, { colours } = app, { keys } = this.attention;
    const every = Math.ceil(13 / cell), numbered = Math.ceil((keys > 99 ? 26 : 18) / cell), x = visible.x, y = visible.y;
    paper.rect(x, y, left, visible.height, colours.page);
    paper.rect(x, y, visible.width, top, colours.page);
    const small = `10px ${colours.sans}`, bold = `700 ${font}`;
    for (let i = from; i < to; i++) {
      const middle = top + (i + 0.5) * cell, chosen = i === app.focus;
      if (middle < y + top || !chosen && (i % every !== 0 || every > 1 && Math.abs(i - app.focus) < every)) continue;
      const colour = app.halted(i) && !chosen ? colours.soft : colours.ink;
      paper.text(x + left - 8, middle, fitted(this.queryNames[i], chosen ? bold : font, left - 40), chosen ? bold : font, colour, { anchor: "end" });
      paper.text(x + 26, middle, `${i + 1}`, small, colours.soft, { anchor: "end" });
    }
    for (let j = 0; j < keys; j++) {
      const middle = left + (j + 0.5) * cell, chosen = j === app.keyCursor;
      if (middle < x + left || middle > x + visible.width || !chosen && (j % every !== 0 || every > 1 && app.keyCursor !== null && Math.abs(j - app.keyCursor) < every)) continue;
      const name = fitted(this.keyNames[j], font, top - 28);
      if (this.long) paper.text(middle, y + top - 6, name, chosen ? bold : font, colours.ink, { turned: true });
      else paper.text(middle, y + top - 10, name, chosen ? bold : font, colours.ink, { anchor: "middle" });
      const number = app.keyPosition(j) + 1;
      if (j % numbered === 0 && number > 0) paper.text(middle, y + 8, `${number}`, small, colours.soft, { anchor: "middle" });
    }
    paper.text(x + left - 8, y + top - 8, "query ↓  key →", small, colours.soft, { anchor: "end" });
  }

  cursor(paper) {
    const { cell, left, top, app } = this, keys = this.attention.keys;
    const seen = app.view.causal ? app.focus + 1 : keys;
    paper.frame(left + 1, top + app.focus * cell, seen * cell - 2, cell - 1, app.colours.ink, 1.5);
    if (app.keyCursor !== null) paper.frame(left + app.keyCursor * cell - 1, top + app.focus * cell - 1, cell + 1, cell + 1, app.colours.ink, 2.5);
  }

  // hit returns the query and the key at a point.
  hit(x, y, visible) {
    const { cell, left, top } = this, { queries, keys } = this.attention;
    if (x - visible.x < left || y - visible.y < top) return null;
    const query = Math.floor((y - top) / cell), key = Math.floor((x - left) / cell);
    return query < queries && key < keys ? { query, key } : null;
  }
}

// Thumbs are the small matrices: one per head, the mean first. Each is a radio button.
class Thumbs {
  constructor(box, app) {
    this.box = box;
    this.app = app;
  }

  build() {
    const { heads, queries, keys } = this.app.attention, list = Array.from({ length: heads }, (_, k) => k);
    if (heads > 1) list.unshift(-1);
    const side = 104, scale = side / Math.max(queries, keys);
    this.thumbs = list.map(head => {
      const canvas = Object.assign(element("canvas"), { width: keys, height: queries });
      Object.assign(canvas.style, { width: `${Math.max(24, Math.round(keys * scale))}px`, height: `${Math.max(24, Math.round(queries * scale))}px` });
      const button = element("button", "thumb", canvas, element("span", "", this.app.headName(head)));
      button.type = "button";
      button.setAttribute("role", "radio");
      button.addEventListener("click", () => this.app.set({ head }));
      return { head, canvas, button };
    });
    this.box.replaceChildren(...this.thumbs.map(t => t.button));
  }

  canvasOf(head) { return this.thumbs.find(t => t.head === head).canvas; }

  paint() {
    for (const thumb of this.thumbs) {
      thumb.button.setAttribute("aria-checked", `${thumb.head === this.app.head}`);
      thumb.button.tabIndex = thumb.head === this.app.head ? 0 : -1;
      this.paintOne(thumb);
    }
  }

  // paintOne paints one pixel per cell.
  paintOne({ head, canvas }) {
    const { app } = this, { attention, colours } = app, { queries, keys } = attention;
    const pen = canvas.getContext("2d"), image = pen.createImageData(keys, queries), pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < queries; i++) {
      const row = attention.row(app.step, head, i), from = i * keys, most = app.normalize ? row.max : 1;
      const ramp = app.halted(i) ? colours.attention.faint : colours.attention.pixels;
      pixels.fill(ramp[0], from, from + (app.view.causal ? i + 1 : keys));
      for (let n = 0; n < row.keys.length; n++) pixels[from + row.keys[n]] = ramp[Math.round(255 * Math.sqrt(Math.min(1, row.weights[n] / most)))];
    }
    pen.putImageData(image, 0, 0);
  }
}
