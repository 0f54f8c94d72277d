// The panel about the chosen position, the legends and the table of all numbers. Texts become text nodes, never HTML.

// detailsOf describes the position in focus: what it attends to, and what happens in each step.
function detailsOf(app) {
  const n = app.view.stack, stack = app.data.stacks[n], i = app.focus, readout = app.readout();
  const parts = [element("h3", "", `Position ${i + 1}: `, element("bdi", app.tokenClass(), clipped(stack.tokens[i])))];
  parts.push(element("p", "", haltSentence(stack, i)));
  if (app.isWrong(n, i)) parts.push(element("p", "wrong", `Expected: ${quoted(app.data.expected[i] || "nothing")}`));
  else if (n === app.data.stacks.length - 1 && app.data.expected && app.data.expected[i]) parts.push(element("p", "", "That is the expected token."));
  if (readout) parts.push(element("p", "", readoutSentence(readout)));
  if (stack.weights || stack.changes || readout) parts.push(stepTable(app, stack, i, readout));
  if (app.attention) parts.push(attendedList(app));
  return parts;
}

function haltSentence(stack, i) {
  const n = stack.updates[i];
  if (!stack.weights) return `It ran ${stepCount(n)}.`;
  const rest = stack.remainders ? `; the remainder, ${share(stack.remainders[i])}, is the weight of its last step` : "";
  return `It halted after ${stepCount(n)}${rest}.`;
}

function readoutSentence(r) {
  const flips = r.flips.length;
  if (flips === 0) return `The answer ${quoted(r.answer)} stands from the first step on.`;
  return `The answer ${quoted(r.answer)} appears first after step ${r.first}` + (r.settled > r.first ? ` and stands from step ${r.settled} on` : "") +
    `; the most probable token changes ${["once", "twice"][flips - 1] ?? `${flips} times`}.`;
}

// stepTable has a row per step: its weight, the change of the state, and the most probable tokens if the position ended there.
function stepTable(app, stack, i, readout) {
  const head = ["step", ...(stack.weights ? ["weight"] : []), ...(stack.changes ? ["change"] : []), ...(readout ? ["readout"] : [])];
  const body = element("tbody");
  for (let t = 0; t < stack.steps; t++) {
    const ran = t < stack.updates[i];
    const row = body.appendChild(element("tr", `${t === app.step ? "chosen" : ""} ${ran ? "" : "halted"}`, element("th", "", `${t + 1}`)));
    if (stack.weights) row.append(element("td", "", ran ? share(stack.weights[t][i]) : "–"));
    if (stack.changes) row.append(element("td", "", ran ? stack.changes[t][i].toPrecision(3) : "–"));
    if (readout) row.append(candidates(readout, t));
    row.addEventListener("click", () => app.set({ step: t }));
  }
  return element("div", "scroll", element("table", "steps", element("thead", "", element("tr", "", ...head.map(h => element("th", "", h)))), body));
}

// candidates are the most probable tokens after step t, with bars as long as their probabilities. A flip is marked.
function candidates(readout, t) {
  const flip = readout.flips.includes(t + 1), cell = element("td", `top ${flip ? "flip" : ""}`);
  readout.steps[t].slice(0, 3).filter(({ p }, k) => k === 0 || p >= 0.005).forEach(({ token, p }, k) => {
    const name = element("bdi", k === 0 ? "token best" : "token", token), bar = element("span", "bar");
    bar.style.width = `${Math.round(100 * p)}%`;
    cell.append(element("span", "candidate", name, element("span", "track", bar), element("span", "p", p.toFixed(2))));
  });
  if (flip) cell.title = "another token than after the step before";
  return cell;
}

// attendedList lists the keys with the largest weights, and the sum of the others.
function attendedList(app) {
  const row = app.row(), names = app.keyNames(), order = [...row.keys.keys()].sort((a, b) => row.weights[b] - row.weights[a]).slice(0, 6);
  let rest = 1;
  const items = order.filter(n => row.weights[n] >= 0.005).map(n => {
    rest -= row.weights[n];
    return element("li", "", element("bdi", app.tokenClass(), clipped(names[row.keys[n]])), ` ${app.keyPlace(row.keys[n])} `, element("b", "", share(row.weights[n])));
  });
  if (rest >= 0.01) items.push(element("li", "rest", `all others ${share(rest)}`));
  return element("div", "attended", element("h4", "", `Attends to (step ${app.step + 1}, ${app.headName(app.head)})`), element("ul", "", ...items));
}

function swatch(text, colour) {
  const box = element("i");
  box.style.background = colour;
  return element("li", "", box, text);
}

// gridLegend explains the cells of the main figure.
function gridLegend(app) {
  const { colours, data, cells } = app, last = data.stacks.length - 1, levels = of => [0, 0.1, 0.5, 1].map(v => swatch(`${v}`, colours.weight.of(of(v))));
  const items = [];
  if (cells === "readouts") items.push(element("li", "", "most probable token after each step, and its probability"), ...levels(v => v * v));
  else if (cells === "weights" && data.stacks.some(s => s.weights)) {
    items.push(element("li", "", "weight of a step in the result"), ...levels(v => v));
    if (data.stacks.some(s => s.remainders)) items.push(swatch("the step in which a position halted; its weight is the remainder", colours.rest.of(0.5)));
  } else if (data.stacks.some(s => s.changes)) items.push(element("li", "", "norm of the change of the state in a step"));
  if (app.attention) items.push(swatch("attention of the chosen position", colours.mark));
  if (data.expected && data.stacks[last].tokens.some((_, i) => app.isWrong(last, i))) items.push(swatch("not the expected token", colours.wrong));
  return items;
}

function matrixLegend(app) {
  const { colours } = app, of = app.normalize ? "share of the row’s largest weight" : "share of attention";
  const items = [element("li", "", of), ...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1].map(v => swatch(`${v}`, colours.attention.of(v)))];
  if (app.attention.keys > 16) items.push(element("li", "", "The page holds the 16 largest weights of each row and the sum of the others."));
  return items;
}

// numbersTable has a row per position of each stack.
function numbersTable(data) {
  return data.stacks.flatMap(stack => {
    const head = ["position", "token", "steps", ...(stack.weights || []).map((_, t) => `u${t + 1}`), ...(stack.remainders ? ["r"] : [])];
    const body = element("tbody", "", ...stack.tokens.map((token, i) => element("tr", "", element("td", "", `${i + 1}`), element("th", "", element("bdi", "", token)),
      element("td", "", `${stack.updates[i]}`), ...(stack.weights || []).map(row => element("td", "", share(row[i]))),
      ...(stack.remainders ? [element("td", "", share(stack.remainders[i]))] : []))));
    return [element("h3", "", stack.name), element("table", "numbers", element("thead", "", element("tr", "", ...head.map(h => element("th", "", h)))), body)];
  });
}
