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
  return `It ${n === stack.limit ? `reached the limit of ${stepCount(n)}` : `halted after ${stepCount(n)}`}${rest}.`;
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
  if (app.halted(app.focus)) {
    return element("p", "", `It had ${app.ended()} before step ${app.step + 1}. What its attention would be then, faint in the matrix, is not part of its result.`);
  }
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

// gridLegend explains the cells of the main figure. If stacks show different things, it names them.
function gridLegend(app) {
  const { colours, data, cells } = app, last = data.stacks.length - 1, kindOf = s => cellKind(s, cells) ?? (s.changes && !s.rows ? "changes" : null);
  const kinds = new Set(data.stacks.map(kindOf)), items = [];
  kinds.delete(null);
  data.stacks.forEach((stack, n) => {
    const kind = kindOf(stack), first = data.stacks.findIndex(s => kindOf(s) === kind) === n;
    if (!kind || !first && kind !== "changes") return; // each stack has its own scale of changes
    const name = kinds.size > 1 || kind === "changes" && last > 0 ? `${stack.name}: ` : "";
    items.push(...cellLegend(colours, data.stacks.filter(s => kindOf(s) === kind), kind, name, app.grid.largest[n]));
  });
  if (data.stacks.some(s => s.pieces)) items.push(element("li", "", "·: continues the word before it"));
  if (app.attention) items.push(swatch("attention of the chosen position", colours.mark));
  if (data.expected && data.stacks[last].tokens.some((_, i) => app.isWrong(last, i))) items.push(swatch("not the expected token", colours.wrong));
  return items;
}

// cellLegend explains the cells of stacks that show one kind of number.
function cellLegend(colours, stacks, kind, name, largest) {
  const title = { readouts: "most probable token after each step, and its probability", weights: "weight of a step in the result", changes: "norm of the change of the state in a step" };
  const levels = { readouts: v => [`${v}`, v * v], weights: v => [`${v}`, v], changes: v => [short(v * largest), v] };
  const items = [element("li", "", name + title[kind]), ...[0, 0.1, 0.5, 1].map(v => {
    const [text, level] = levels[kind](v);
    return swatch(text, colours.weight.of(level));
  })];
  if (kind === "weights" && stacks.some(s => s.remainders)) items.push(swatch("the last step of a position; its weight is the remainder", colours.rest.of(0.5)));
  return items;
}

function matrixLegend(app) {
  const { colours } = app, of = app.normalize ? "share of the row’s largest weight" : "share of attention";
  const items = [element("li", "", of), ...[0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1].map(v => swatch(`${v}`, colours.attention.of(v)))];
  const { updates } = app.data.stacks[app.view.stack];
  if (updates.some((_, i) => app.halted(i))) items.push(swatch(`faint rows: positions that had ${app.ended()} before this step`, `color-mix(in srgb, ${colours.attention.of(0.5)} 30%, ${colours.page})`));
  if (app.attention.keys > 16) items.push(element("li", "", "The page holds the 16 largest weights of each row and the sum of the others."));
  return items;
}

// numbersTable has a row per position of each stack, and explains its columns.
function numbersTable(data) {
  const meanings = ["steps: how many steps the position ran"];
  if (data.stacks.some(s => s.weights)) meanings.push("u1, u2 and so on: the weight of each step in its result");
  if (data.stacks.some(s => s.remainders)) meanings.push("r: the remainder, which is the weight of its last step");
  if (data.stacks.some(s => s.changes)) meanings.push("d1, d2 and so on: the norm of the change of its state in each step");
  return [element("p", "note", `${meanings.join("; ")}. The figures above show attention and readouts.`), ...data.stacks.flatMap(stack => {
    const weights = stack.weights ?? [], changes = stack.changes ?? [], rest = stack.remainders ? [stack.remainders] : [];
    const head = ["position", "token", "steps", ...weights.map((_, t) => `u${t + 1}`), ...rest.map(() => "r"), ...changes.map((_, t) => `d${t + 1}`)];
    const body = element("tbody", "", ...stack.tokens.map((token, i) => element("tr", "", element("td", "", `${i + 1}`), element("th", "", element("bdi", "", token)),
      ...[`${stack.updates[i]}`, ...weights.map(row => share(row[i])), ...rest.map(r => share(r[i])), ...changes.map(row => row[i].toPrecision(3))].map(text => element("td", "", text)))));
    return [element("h3", "", stack.name), element("table", "numbers", element("thead", "", element("tr", "", ...head.map(h => element("th", "", h)))), body)];
  })];
}
