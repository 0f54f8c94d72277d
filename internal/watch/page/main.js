// The page follows the server's events. After a break the server sends everything again.

let charts;
const problems = new Map();
const source = new EventSource("events");

source.addEventListener("runs", event => {
  const runs = JSON.parse(event.data);
  byID("title").textContent = runs.length === 1 ? runs[0].name : `${runs.length} runs`;
  document.title = `Training: ${runs.map(run => run.name).join(", ")}`;
  problems.clear();
  if (!charts) charts = new Charts(byID("charts"), byID("controls"), byID("runs"), runs);
  tell();
});

source.addEventListener("update", event => {
  const { run: index, rows, again, running, status: ended, problem } = JSON.parse(event.data), run = charts.runs[index];
  charts.add(index, rows, again);
  const last = run.rows.at(-1), status = running ? "running" : ended || "not running";
  run.label.textContent = `${status}, ${last ? `update ${last.step} of ${run.steps}` : "no figures yet"}`;
  run.label.classList.toggle("running", running);
  problem ? problems.set(index, problem) : problems.delete(index);
  tell();
});

source.addEventListener("error", () => tell("The server of this page does not answer. The curves end here until it does."));

// tell shows why something cannot be read.
function tell(text = [...problems.values()].join(" ")) {
  byID("problem").textContent = text;
  byID("problem").hidden = !text;
}

document.documentElement.dataset.ready = "true";
