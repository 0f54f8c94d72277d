// How the model came to its answer: the trace view, with the exit that the slider chooses.

const ruleNames = {
  fixed: ["after exactly N steps", stepCount], limit: ["after at most N steps", stepCount], threshold: ["at a halting threshold", v => `threshold ${v}`],
  confidence: ["once the model is sure", v => `probability of at least ${v}`], unchanged: ["once the answer stays the same", v => `for ${stepCount(v)}`],
  divergence: ["once a step changes little", v => `less than ${v} nats`],
};

class TraceView {
  constructor(client) {
    Object.assign(this, { client, box: byID("why"), rule: byID("rule"), slider: byID("setting"), output: byID("setting-name"), changed: byID("changed"), figures: byID("figures") });
    this.request = null; // the body of the last request, without its exit
    this.rule.addEventListener("change", () => { this.choose(); this.later(); });
    this.slider.addEventListener("input", () => { this.name(); this.later(); });
  }

  // offer lists the exits of a model.
  offer(exits) {
    this.exits = new Map(exits.map(e => [e.rule, e.settings]));
    this.rule.replaceChildren(new Option("as trained", ""), ...exits.map(e => new Option(ruleNames[e.rule]?.[0] ?? e.rule, e.rule)));
    byID("exits").hidden = exits.length === 0;
    this.choose();
  }

  // choose puts the slider into the middle of the settings of a rule.
  choose() {
    const settings = this.exits.get(this.rule.value) || [];
    Object.assign(this.slider, { max: Math.max(0, settings.length - 1), value: Math.floor(settings.length / 2), disabled: settings.length < 2 });
    this.name();
  }

  setting() { return this.exits.get(this.rule.value)?.[this.slider.valueAsNumber]; }

  name() {
    const value = this.setting(), text = value === undefined ? "" : ruleNames[this.rule.value]?.[1](value) ?? `${value}`;
    this.output.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
  }

  // hide forgets the trace of an earlier input.
  hide() {
    this.stop();
    this.box.hidden = true;
    this.request = null;
  }

  stop() {
    clearTimeout(this.timer);
    this.running?.abort();
  }

  // trace shows the trace of an input that was answered.
  trace(model, input, answered) {
    history.replaceState(null, "", location.pathname); // what was chosen in another trace means nothing in this one
    this.request = { model, input, format: "view" };
    this.answered = answered;
    return this.load();
  }

  // later traces again soon: the slider may move on.
  later() {
    if (!this.request) return;
    this.stop();
    this.timer = setTimeout(() => this.load(), 120);
  }

  async load() {
    this.stop();
    const running = this.running = new AbortController(), value = this.setting();
    this.figures.classList.add("waiting");
    try {
      const exit = value === undefined ? undefined : { rule: this.rule.value, setting: value };
      const view = await this.client.json("/v1/trace", { ...this.request, exit }, running.signal), attentions = await unpacked(view.data);
      if (running.signal.aborted) return;
      this.box.hidden = false;
      this.figures.innerHTML = view.html; // the server has escaped all texts
      show(view.data, attentions);
      this.tell(view);
    } catch (problem) {
      if (running.signal.aborted) return;
      this.box.hidden = false;
      this.figures.replaceChildren();
      this.changed.textContent = problem.message;
    }
    this.figures.classList.remove("waiting");
    document.documentElement.dataset.traced = `${Number(document.documentElement.dataset.traced || 0) + 1}`; // for tests
  }

  // tell says what the model answers with the exit, and whether that is right.
  tell(view) {
    const parts = [];
    if (view.exit) {
      const same = view.answer.trim() === this.answered.trim();
      parts.push(`With ${view.exit}, the model answers `, element("bdi", "token", view.answer || "nothing"), same ? ", as before. " : `, not ${quoted(this.answered)}. `);
    }
    if (view.verdict) parts.push(view.verdict);
    this.changed.replaceChildren(...parts);
  }
}
