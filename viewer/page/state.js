// What is shown, and its form in the address: #view=cross&step=2&head=1&position=5&cells=readouts&colours=normalized. Numbers count from 1 there.

class State {
  constructor(data) {
    this.data = data;
    this.viewIndex = Math.max(0, data.views.findIndex(v => v.cross));
    this.head = -1; // the mean of all heads
    this.normalize = false;
    this.kinds = ["weights", "readouts", "changes"].filter(kind => data.stacks.some(s => s[kind]));
    this.cells = "weights"; // what cells show
    this.step = this.firstStep();
    this.positions = data.stacks.map(s => this.firstPosition(s));
  }

  // kindName names what cells can show. Without weights, as at fixed depth, the first kind is the change in the chosen step.
  kindName(kind) { return kind === "weights" && !this.kinds.includes(kind) ? "change in the step" : kind; }

  // firstPosition is the question of a story; otherwise the first position after a prompt that ran the first step shown.
  firstPosition(stack) {
    const last = stack.tokens.length - 1, from = Math.min(stack.given || 0, last);
    if (stack.rows) return last;
    return Math.max(from, stack.updates.findIndex((n, i) => i >= from && n > this.step));
  }

  get view() { return this.data.views[this.viewIndex]; }
  get stack() { return this.data.stacks[this.view.stack]; }
  get position() { return this.positions[this.view.stack]; }
  set position(p) { this.positions[this.view.stack] = p; }

  // firstStep is the last step that at least half of the positions ran: attention is sharpest late, and of little interest once nearly
  // everything has halted.
  firstStep() {
    const { steps, updates } = this.stack;
    for (let t = steps - 1; t > 0; t--) if (2 * updates.filter(n => n > t).length >= updates.length) return t;
    return 0;
  }

  // change sets fields and keeps all of them in their ranges; heads is the number of heads of the view.
  change(fields, heads) {
    if (fields.viewIndex !== undefined && fields.viewIndex !== this.viewIndex) {
      this.viewIndex = clamp(fields.viewIndex, 0, this.data.views.length - 1);
      if (fields.step === undefined) this.step = Math.min(this.step, this.stack.steps - 1);
    }
    if (fields.step !== undefined) this.step = fields.step;
    if (fields.head !== undefined) this.head = fields.head;
    if (fields.position !== undefined) this.position = fields.position;
    if (fields.cells !== undefined) this.cells = fields.cells;
    if (fields.normalize !== undefined) this.normalize = fields.normalize;
    this.step = clamp(this.step, 0, this.stack.steps - 1);
    this.position = clamp(this.position, 0, this.stack.tokens.length - 1);
    const count = heads(this.view);
    this.head = count === 1 ? 0 : clamp(this.head, -1, Math.max(-1, count - 1));
  }

  fragment() {
    const parts = new URLSearchParams({ view: this.view.id, step: this.step + 1 });
    if (this.view.attention >= 0) parts.set("head", this.head < 0 ? "mean" : this.head + 1);
    parts.set("position", this.position + 1);
    if (this.cells !== "weights") parts.set("cells", this.cells);
    if (this.normalize) parts.set("colours", "normalized");
    return `#${parts}`;
  }

  // fields reads a fragment; what it does not say, or says wrongly, is left out.
  fields(fragment) {
    const parts = new URLSearchParams(fragment.replace(/^#/, "")), fields = {};
    const number = name => /^\d{1,9}$/.test(parts.get(name) || "") ? Number(parts.get(name)) - 1 : undefined;
    const view = this.data.views.findIndex(v => v.id === parts.get("view"));
    if (view >= 0) fields.viewIndex = view;
    for (const name of ["step", "head", "position"]) if (number(name) !== undefined) fields[name] = number(name);
    if (parts.get("head") === "mean") fields.head = -1;
    if (parts.size > 0) fields.cells = this.kinds.includes(parts.get("cells")) ? parts.get("cells") : "weights";
    if (parts.size > 0) fields.normalize = parts.get("colours") === "normalized";
    return fields;
  }
}
