// The main figure: positions by steps. The fill of a cell is the weight of that step's state in the position's result; the last step of a
// position that halts has another colour, and its weight is the remainder. Lines lead from the chosen position to what it attends to, unless it
// had halted before the step.

class Grid {
  constructor(app) { this.app = app; }

  // layout places the stacks below each other.
  layout(width) {
    const { colours, data } = this.app;
    this.labelFont = `600 13px ${colours.mono}`;
    this.proseFont = `15px ${colours.serif}`;
    this.small = `10px ${colours.sans}`;
    let y = 0;
    this.blocks = data.stacks.map(stack => {
      const block = stack.rows ? new Rows(stack, width, y, this.proseFont, this.app.cells) : new Columns(stack, width, y, this.labelFont, this.app.cells);
      y += block.height + 12;
      return block;
    });
    this.width = Math.min(width, Math.max(260, ...this.blocks.map(b => b.width)));
    this.height = y;
    this.largest = data.stacks.map(s => s.changes ? Math.max(...s.changes.flat(), 1e-9) : 1);
  }

  draw(paper, visible) {
    this.blocks.forEach((block, n) => {
      if (block.top > visible.y + visible.height || block.top + block.height < visible.y) return;
      this.name(paper, block, n);
      for (const band of block.bands) {
        if (band.top < visible.y + visible.height && band.top + band.height > visible.y) this.band(paper, block, n, band);
      }
    });
    this.lines(paper);
    this.frame(paper);
  }

  // name writes the name of a stack and, if its depth is fixed, what its single row of cells is.
  name(paper, block, n) {
    const { app } = this, { colours } = app, [x, y] = block.nameAt();
    paper.text(x, y, block.stack.name, `600 13px ${colours.sans}`, n === app.view.stack ? colours.ink : colours.soft);
    if (cellKind(block.stack, app.cells) || block.stack.rows || !block.cells) return;
    const cell = block.cell(0, 0);
    paper.text(x, cell.y + cell.height / 2, "change", `11px ${colours.sans}`, colours.soft);
  }

  // band draws the positions of one line, or one row.
  band(paper, block, n, band) {
    const { app } = this, { colours } = app;
    this.stepNumbers(paper, block, n, band);
    const row = app.attended(n), alphaOf = this.faded(n);
    for (let i = band.from; i < band.to; i++) {
      this.label(paper, block, n, i, row ? row.get(i) || 0 : 0);
      if ((i + 1) % block.numbered === 0 || i === 0) {
        paper.text(...block.numberAt(i), `${i + 1}`, this.small, colours.soft, { anchor: "middle" });
      }
      if (cellKind(block.stack, app.cells)) for (let t = 0; t < block.stack.updates[i]; t++) this.cell(paper, block, n, i, t, alphaOf(t));
      else if (block.cells) this.write(paper, block.cell(i, 0), this.change(n, i, n === app.view.stack ? app.step : block.stack.steps - 1), 1);
    }
  }

  // faded returns how strongly each step is drawn: steps after the chosen one have not happened yet, and neither has the decoder while the
  // encoder is shown.
  faded(n) {
    const { app } = this;
    if (n === app.view.stack) return t => t > app.step ? 0.22 : 1;
    return n > app.view.stack ? () => 0.22 : () => 1;
  }

  stepNumbers(paper, block, n, band) {
    const { app } = this, { colours } = app;
    if (!cellKind(block.stack, app.cells)) return;
    const every = block.cells > 16 ? 5 : 1;
    for (let t = 0; t < block.cells; t++) {
      const chosen = n === app.view.stack && t === app.step, at = block.stepAt(band, t);
      if (chosen) {
        const s = block.stripe(band, t);
        paper.rect(s.x - 3, s.y - 1, s.width + 6, s.height + 1, colours.band);
      }
      if (at && (chosen || (t + 1) % every === 0)) {
        paper.text(at[0], at[1], `${t + 1}`, `${chosen ? "700" : "400"} 11px ${colours.sans}`, chosen ? colours.ink : colours.soft, { anchor: at[2] });
      }
    }
  }

  label(paper, block, n, i, attended) {
    const { app } = this, { colours } = app, box = block.label(i);
    if (attended > 0.004) paper.rect(box.x + 1, box.y, box.width - 2, box.height, colours.attention.of(0.4 * attended));
    const given = i < (block.stack.given || 0), wrong = app.isWrong(n, i);
    block.text[i].forEach((line, k) => {
      const [x, y, anchor] = block.textAt(i, k);
      paper.text(x, y, line, block.font, wrong ? colours.wrong : given ? colours.soft : colours.ink, { anchor });
    });
  }

  cell(paper, block, n, i, t, alpha) {
    const kind = { weights: () => this.weight(block.stack, i, t), changes: () => this.change(n, i, t), readouts: () => this.readout(block.stack, i, t) };
    this.write(paper, block.cell(i, t), kind[cellKind(block.stack, this.app.cells)](), alpha);
  }

  // weight, change and readout return {text, fill} of a cell.
  weight(stack, i, t) {
    const u = stack.weights[t][i], last = stack.remainders && t === stack.updates[i] - 1;
    return { text: short(u), fill: (last ? this.app.colours.rest : this.app.colours.weight).of(u) };
  }

  change(n, i, t) {
    const norm = this.app.data.stacks[n].changes[t][i];
    return { text: short(norm), fill: this.app.colours.weight.of(norm / this.largest[n]) };
  }

  readout(stack, i, t) {
    const { steps, flips } = stack.readouts[i], [{ token, p }] = steps[t];
    return { text: token, fill: this.app.colours.weight.of(p * p), font: `${flips.includes(t + 1) ? "700" : "400"} 12px ${this.app.colours.mono}` };
  }

  // write fills a cell with an opacity. Its text is always opaque. A token is shortened to the cell; a number that does not fit is left out.
  write(paper, box, { text, fill, font = this.small }, alpha) {
    const room = box.width - 3;
    paper.rect(box.x, box.y, box.width - 1, box.height - 1, fill, alpha);
    if (box.height < 16 || room < (font === this.small ? textWidth(text, font) : 11)) return;
    paper.text(box.x + (box.width - 1) / 2, box.y + box.height / 2, fitted(text, font, room), font, this.app.colours.textOn(fill, alpha), { anchor: "middle" });
  }

  // lines draws what the position in focus attends to.
  lines(paper) {
    const { app } = this, row = app.halted(app.focus) ? null : app.row();
    if (!row) return;
    const block = this.blocks[app.view.stack], keyBlock = this.blocks[app.view.keyStack], most = app.normalize ? row.max : 1;
    row.keys.forEach((key, i) => {
      const w = row.weights[i] / most;
      if (w < 0.004) return;
      const at = app.keyPosition(key);
      if (at < 0) return;
      const line = app.view.cross ? this.across(block, app.focus, keyBlock, at) : block.arc(app.focus, at);
      paper.curve(line, app.colours.mark, 0.75 + 3.25 * Math.sqrt(w), 0.12 + 0.83 * Math.sqrt(w));
    });
  }

  // across is the line from a position of the decoder to one of the encoder.
  across(block, from, keyBlock, to) {
    const [x1, y1] = block.above(from), [x2, y2] = keyBlock.below(to), middle = Math.max(24, Math.abs(y1 - y2) / 2);
    return [x1, y1, x1, y1 - middle, x2, y2 + middle, x2, y2];
  }

  // frame marks the position in focus.
  frame(paper) {
    const { app } = this, box = this.blocks[app.view.stack].whole(app.focus);
    paper.frame(box.x, box.y - 1, box.width - 1, box.height + 2, app.colours.ink, app.focus === app.position ? 2 : 1);
  }

  // hit returns the stack and position at a point, and the step if a cell is there.
  hit(x, y) {
    for (let n = 0; n < this.blocks.length; n++) {
      const found = this.blocks[n].hit(x, y);
      if (found) return { stack: n, ...found };
    }
    return null;
  }
}
