// Where the positions of a stack and their steps are drawn: as columns that wrap like text, or as rows if their texts are long. Both layouts
// have the boxes label(i) and cell(i, t), hit(x, y), bands (which are drawn if visible) and height.

const measurer = document.createElement("canvas").getContext("2d");
const widths = new Map();

// textWidth measures a text in a font, once.
function textWidth(text, font) {
  const key = `${font}\n${text}`;
  if (!widths.has(key)) {
    measurer.font = font;
    widths.set(key, measurer.measureText(text).width);
  }
  return widths.get(key);
}

// fitted shortens a text to a width.
function fitted(text, font, width) {
  if (textWidth(text, font) <= width) return text;
  const letters = [...text];
  let low = 0, high = letters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textWidth(letters.slice(0, middle).join("") + "…", font) <= width) low = middle;
    else high = middle - 1;
  }
  return letters.slice(0, low).join("") + "…";
}

// wrapped splits a text into lines of a width, at blanks.
function wrapped(text, font, width) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && textWidth(longer, font) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map(l => fitted(l, font, width));
}

// cellKind is what the cells of a stack show, "weights", "changes" or "readouts": what is asked for if it is known, otherwise the weights. It
// is null if the depth is fixed; a single row then shows the change of the state in the chosen step, if that is known.
const cellKind = (stack, cells) => stack[cells] ? cells : stack.weights ? "weights" : null;

const cellRows = (stack, cells) => cellKind(stack, cells) ? stack.steps : stack.changes ? 1 : 0;

class Columns {
  constructor(stack, width, top, font, cells) {
    Object.assign(this, { stack, top, font, arcs: 28, labelHeight: 20, gutter: 68 });
    const positions = stack.tokens.length, narrow = width < 560;
    this.cells = cellRows(stack, cells);
    const least = positions <= 64 && !narrow ? clamp(Math.floor((width - 60) / positions), 30, 48) : positions <= 160 ? 24 : 17;
    this.cellHeight = this.cells > 8 && cellKind(stack, cells) !== "readouts" ? 12 : least > 40 ? 24 : 18;
    this.numbered = least >= 24 ? 1 : 5;
    this.bandHeight = this.arcs + this.labelHeight + 13 + this.cells * this.cellHeight + 10;
    this.place(width, least);
    this.height = this.bands.length * this.bandHeight;
    this.width = Math.max(...this.bands.map(b => b.right)) + 4;
  }

  // place fills one line after the other.
  place(width, least) {
    const room = width - this.gutter - 6;
    this.x = []; this.w = []; this.band = []; this.text = [];
    this.bands = [];
    let band = null;
    this.stack.tokens.forEach((token, i) => {
      const text = fitted(token, this.font, Math.min(260, room - 10)), w = Math.max(least, Math.ceil(textWidth(text, this.font)) + 10);
      if (!band || band.right + w > this.gutter + room) {
        band = { top: this.top + this.bands.length * this.bandHeight, height: this.bandHeight, from: i, to: i, right: this.gutter };
        this.bands.push(band);
      }
      this.x.push(band.right); this.w.push(w); this.band.push(this.bands.length - 1); this.text.push([text]);
      band.right += w;
      band.to = i + 1;
    });
  }

  label(i) { return { x: this.x[i], y: this.bands[this.band[i]].top + this.arcs, width: this.w[i], height: this.labelHeight }; }

  cell(i, t) {
    const label = this.label(i);
    return { x: label.x, y: label.y + label.height + 13 + t * this.cellHeight, width: label.width, height: this.cellHeight };
  }

  whole(i) {
    const label = this.label(i);
    return { ...label, height: label.height + 13 + this.cells * this.cellHeight };
  }

  // numberAt is where the number of a position is written.
  numberAt(i) {
    const label = this.label(i);
    return [label.x + label.width / 2, label.y + label.height + 5];
  }

  textAt(i) {
    const label = this.label(i);
    return [label.x + label.width / 2, label.y + label.height / 2, "middle"];
  }

  // nameAt is where the name of the stack is written.
  nameAt() { return [0, this.top + this.arcs + this.labelHeight / 2]; }

  // stepAt is where the number of step t is written in a band; stripe is what belongs to the step there.
  stepAt(band, t) { return [this.gutter - 8, this.cell(band.from, t).y + this.cellHeight / 2, "end"]; }
  stripe(band, t) { return { x: this.gutter, y: this.cell(band.from, t).y, width: band.right - this.gutter, height: this.cellHeight }; }

  hit(x, y) {
    const band = this.bands.find(b => y >= b.top && y < b.top + b.height);
    if (!band) return null;
    let low = band.from, high = band.to - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.x[middle] <= x) low = middle; else high = middle - 1;
    }
    if (x < this.x[low] || x > this.x[low] + this.w[low]) return null;
    return this.withStep(low, Math.floor((y - this.cell(low, 0).y) / this.cellHeight));
  }

  withStep(position, t) { return { position, step: this.cells > 1 && t >= 0 && t < this.cells ? t : null }; }

  // above and below are where lines of attention meet a position.
  above(i) { const b = this.label(i); return [b.x + b.width / 2, b.y]; }
  below(i) { const b = this.whole(i); return [b.x + b.width / 2, b.y + b.height]; }

  // arc is the line from one position to another.
  arc(from, to) {
    const [x1, y1] = this.above(from), [x2, y2] = this.above(to);
    if (from === to) return [x1 - 3, y1, x1 - 12, y1 - 18, x1 + 12, y1 - 18, x1 + 3, y1];
    const rise = this.band[from] === this.band[to] ? Math.min(this.arcs, 8 + Math.abs(x1 - x2) * 0.12) * 1.25 : 34;
    return [x1, y1, x1 + (x2 - x1) * 0.15, y1 - rise, x2 - (x2 - x1) * 0.15, y2 - rise, x2, y2];
  }
}

class Rows {
  constructor(stack, width, top, font, cells) {
    const narrow = width < 560;
    Object.assign(this, { stack, top, font, line: 20, head: narrow ? 40 : 20, cells: cellRows(stack, cells), arcs: narrow ? 26 : 64 });
    const tokens = cellKind(stack, cells) === "readouts";
    this.cellWidth = narrow ? clamp(Math.floor(width * 0.25 / Math.max(1, this.cells)), tokens ? 14 : 6, 18) : this.cells > 12 && !tokens ? 14 : 32;
    this.cellsAt = this.arcs + 30;
    this.textX = this.cellsAt + this.cells * this.cellWidth + 12;
    this.cellHeight = 20;
    this.numbered = 1;
    this.place(Math.max(90, width - this.textX - 8), width);
  }

  place(room, width) {
    let y = this.top + this.head;
    this.y = []; this.h = [];
    this.text = this.stack.tokens.map(token => wrapped(token, this.font, room));
    this.text.forEach(lines => {
      const height = Math.max(this.cellHeight + 4, lines.length * this.line + 4);
      this.y.push(y); this.h.push(height);
      y += height;
    });
    this.bands = this.y.map((top, i) => ({ top, height: this.h[i], from: i, to: i + 1 }));
    this.height = y - this.top + 10;
    this.width = Math.min(width, this.textX + 8 + Math.max(...this.text.flat().map(l => textWidth(l, this.font))));
    this.labelWidth = this.width - this.textX;
  }

  label(i) { return { x: this.textX - 5, y: this.y[i] + 1, width: this.labelWidth, height: this.h[i] - 2 }; }
  cell(i, t) { return { x: this.cellsAt + t * this.cellWidth, y: this.y[i] + (this.h[i] - this.cellHeight) / 2, width: this.cellWidth, height: this.cellHeight }; }
  whole(i) { return { x: this.arcs, y: this.y[i] + 1, width: this.width - this.arcs, height: this.h[i] - 2 }; }
  nameAt() { return [0, this.top + 10]; }
  numberAt(i) { return [this.arcs + 15, this.y[i] + this.h[i] / 2]; }
  textAt(i, n) { return [this.textX, this.y[i] + 2 + this.line / 2 + n * this.line + (this.h[i] - 4 - this.line * this.text[i].length) / 2, "start"]; }
  stepAt(band, t) { return band.from === 0 ? [this.cellsAt + (t + 0.5) * this.cellWidth, this.top + this.head - 10, "middle"] : null; }
  stripe(band, t) { return { x: this.cellsAt + t * this.cellWidth, y: band.top, width: this.cellWidth, height: band.height }; }

  hit(x, y) {
    const i = this.bands.findIndex(b => y >= b.top && y < b.top + b.height);
    if (i < 0) return null;
    const t = Math.floor((x - this.cellsAt) / this.cellWidth);
    return { position: i, step: this.cells > 1 && t >= 0 && t < this.cells ? t : null };
  }

  above(i) { return [this.arcs - 2, this.y[i] + this.h[i] / 2]; }
  below(i) { return this.above(i); }

  arc(from, to) {
    const [x, y1] = this.above(from), [, y2] = this.above(to);
    if (from === to) return [x, y1 - 3, x - 16, y1 - 9, x - 16, y1 + 9, x, y1 + 3];
    const out = Math.min(this.arcs * 1.2, 12 + Math.abs(y1 - y2) * 0.35);
    return [x, y1, x - out, y1, x - out, y2, x, y2];
  }
}
