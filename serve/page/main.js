// Connects the form, the answer and the trace.

const inputNames = {
  story: ["a story, one sentence per line, and a question", "Mary moved to the bathroom.\nJohn went to the hallway.\nWhere is Mary?"],
  prompt: ["the beginning of a text", ""], sentence: ["a sentence", ""], program: ["a program", ""], text: ["a text", ""], line: ["an input", ""],
};

class Page {
  constructor() {
    this.client = new Client();
    this.answer = new AnswerView();
    this.trace = new TraceView(this.client);
    Object.assign(this, { form: byID("ask"), model: byID("model"), input: byID("input"), sendButton: byID("send"), stopButton: byID("stop"), exampleButton: byID("example"), typing: byID("typing") });
    this.drafts = new Map(); // the input of each model
    this.form.addEventListener("submit", event => { event.preventDefault(); this.send(); });
    this.stopButton.addEventListener("click", () => this.stop());
    this.exampleButton.addEventListener("click", () => this.example());
    this.model.addEventListener("change", () => this.choose());
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", event => this.pressed(event));
    byID("access").addEventListener("submit", event => {
      event.preventDefault();
      this.client.keep(byID("token").value.trim());
      this.open();
    });
  }

  // open lists the models, or asks for the token.
  async open() {
    const access = byID("access");
    try {
      this.models = (await this.client.json("/v1/models")).data;
    } catch (problem) {
      access.hidden = problem.status !== 401;
      if (problem.status !== 401) {
        this.answer.begin("Models");
        this.answer.end();
        this.answer.say(problem.message, true);
      } else {
        byID("refused").textContent = this.client.token ? "That token is not accepted." : "";
        byID("token").focus();
      }
      return;
    }
    access.hidden = true;
    this.form.hidden = false;
    this.model.replaceChildren(...this.models.map(m => new Option(m.id)));
    this.choose();
    document.documentElement.dataset.ready = "true";
  }

  get chosen() { return this.models[Math.max(0, this.model.selectedIndex)]; }

  // choose prepares the page for the chosen model.
  choose() {
    if (this.last) this.drafts.set(this.last.id, this.input.value);
    const m = this.last = this.chosen, [name, story] = inputNames[m.reads] ?? inputNames.line;
    this.stop();
    byID("about").textContent = `${m.task}, after ${m.step} updates`;
    byID("input-name").textContent = name;
    this.examples = m.examples.length ? m.examples : story ? [story] : [];
    this.exampleButton.hidden = this.examples.length === 0;
    this.many = m.reads === "story" || m.reads === "prompt";
    this.input.rows = this.many ? 5 : 2;
    byID("keys").textContent = this.many ? "Ctrl-Enter answers, Escape stops." : "Enter answers, Escape stops.";
    this.input.value = this.drafts.get(m.id) ?? "";
    byID("said").hidden = true;
    this.trace.offer(m.exits);
    this.trace.hide();
  }

  example() {
    this.at = ((this.at ?? -1) + 1) % this.examples.length;
    this.input.value = this.examples[this.at];
    this.send();
  }

  pressed(event) {
    if (event.key === "Escape") this.stop();
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || this.many && !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    this.send();
  }

  typed() {
    clearTimeout(this.timer);
    if (this.typing.checked) this.timer = setTimeout(() => this.send(), 500);
  }

  stop() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.trace.stop();
  }

  // send asks the model, in place of what is being answered.
  async send() {
    this.stop();
    const text = this.input.value, m = this.chosen, running = this.running = new AbortController();
    if (text.trim() === "" && m.reads !== "prompt") return;
    this.stopButton.disabled = false;
    this.answer.begin(m.reads === "prompt" ? "Continuation" : "Answer");
    try {
      if (m.kind === "classify") await this.classify(m, text, running.signal);
      else await this.complete(m, text, running.signal);
      if (!running.signal.aborted) await this.explain(m, text);
    } catch (problem) {
      if (running === this.running) this.failed(problem, running.signal.aborted);
    }
    if (running !== this.running) return; // another request has begun
    this.answer.end();
    this.stopButton.disabled = true;
    document.documentElement.dataset.answered = `${Number(document.documentElement.dataset.answered || 0) + 1}`; // for tests
  }

  failed(problem, stopped) {
    this.trace.hide();
    this.answer.end();
    this.answer.say(stopped ? "Stopped." : problem.message, !stopped);
    if (problem.status === 401) this.open();
  }

  async classify(m, text, signal) {
    const { data } = await this.client.json("/v1/classify", { model: m.id, input: text }, signal);
    this.answer.label(data[0]);
    this.answer.end();
  }

  async complete(m, text, signal) {
    const start = performance.now(), body = { model: m.id, prompt: text, stream: true, stream_options: { include_steps: true } };
    let reason = "";
    for await (const { choices: [choice] } of this.client.events("/v1/completions", body, signal)) {
      if (!choice) continue;
      if (choice.text) this.answer.add(choice.text);
      if (choice.steps !== undefined) this.answer.token(choice.token, choice.steps);
      reason = choice.finish_reason ?? reason;
    }
    this.answer.end();
    this.answer.summary((performance.now() - start) / 1000, reason);
  }

  explain(m, text) {
    if (!m.traces) return this.trace.hide();
    this.stopButton.disabled = true;
    return this.trace.trace(m.id, text, this.answer.text.textContent);
  }
}

new Page().open();
