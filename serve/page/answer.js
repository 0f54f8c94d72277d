// What a model answers: text that streams in, with the steps of each token; labels; tags of words.

class AnswerView {
  constructor() {
    Object.assign(this, { box: byID("said"), text: byID("answer"), labels: byID("labels"), ponder: byID("ponder"), status: byID("status") });
  }

  // begin empties the view; the height stays, so that nothing jumps.
  begin(title) {
    byID("said-title").textContent = title;
    this.box.hidden = false;
    this.text.textContent = "";
    this.text.hidden = false;
    this.text.classList.add("busy");
    this.labels.replaceChildren();
    this.ponder.replaceChildren();
    this.steps = [];
    this.written = 0; // tokens without the end, as the API counts them
    this.say("");
  }

  end() { this.text.classList.remove("busy"); }

  say(text, wrong = false) {
    this.status.textContent = text;
    this.status.classList.toggle("wrong", wrong);
  }

  add(text) { this.text.append(text); }

  // token adds a column: a bar as high as the number of steps.
  token(text, steps) {
    this.steps.push(steps);
    if (text !== "") this.written++;
    if (steps === 0) return; // models of this kind have none
    const bar = element("span", "height"), name = text === "" ? "end" : text.trim() || "␣";
    bar.style.height = `${6 * Math.min(steps, 40)}px`;
    const item = element("li", "", element("span", "n", `${steps}`), bar, text === "" ? element("i", "", name) : element("bdi", "token", clipped(name)));
    item.title = stepCount(steps);
    this.ponder.append(item);
  }

  // summary says how many tokens there are and how many steps they took.
  summary(seconds, reason) {
    const n = this.written, sum = this.steps.reduce((a, b) => a + b, 0);
    const parts = [`${n} ${n === 1 ? "token" : "tokens"} in ${seconds.toFixed(2)} s`];
    if (sum > 0) parts.push(`${(sum / this.steps.length).toFixed(2)} steps per position`);
    if (reason === "length") parts.push("cut off at the largest number of tokens");
    this.say(`${parts.join(", ")}.`);
  }

  // label shows classes with bars as long as their probabilities, or words with their tags.
  label(found) {
    if (found.error) throw new Failure(400, found.error);
    this.text.textContent = found.label ?? "";
    this.text.hidden = !found.label;
    this.labels.replaceChildren(found.words ? taggedWords(found) : labelTable(found.probabilities || []));
    const notes = (found.spans || []).map(s => `${s.type}: ${s.text}`);
    if (found.unknown?.length) notes.push(`unknown: ${found.unknown.join(", ")}`);
    this.say(notes.join("; "));
  }
}

function labelTable(probabilities) {
  const rows = probabilities.slice(0, 10).map(({ label, probability }) => {
    const bar = element("span", "bar");
    bar.style.width = `${Math.round(100 * probability)}%`;
    return element("tr", "", element("th", "", element("bdi", "", clipped(label))), element("td", "", element("div", "track", bar)), element("td", "p", share(probability)));
  });
  const rest = probabilities.slice(10).reduce((sum, p) => sum + p.probability, 0);
  if (probabilities.length > 10) rows.push(element("tr", "", element("th", "", `${probabilities.length - 10} others`), element("td"), element("td", "p", share(rest))));
  return element("table", "", element("tbody", "", ...rows));
}

function taggedWords(found) {
  return element("ul", "", ...found.words.map(({ word, tag, probability }) => {
    const item = element("li", tag === "O" ? "" : "tagged", element("bdi", "token", clipped(word)), element("small", "", tag));
    item.title = `probability ${share(probability)}`;
    return item;
  }));
}
