// Requests to the server that sent this page.

// A Failure is an answer that is an error.
class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const pause = (seconds, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, 1000 * seconds);
  signal?.addEventListener("abort", () => { clearTimeout(timer); fail(signal.reason); }, { once: true });
});

class Client {
  constructor() { this.token = sessionStorage.getItem("token") || ""; }

  keep(token) {
    this.token = token;
    sessionStorage.setItem("token", token);
  }

  // fetch waits and asks again if the server's queue is full.
  async fetch(path, body, signal) {
    const headers = { ...(this.token && { Authorization: `Bearer ${this.token}` }), ...(body && { "Content-Type": "application/json" }) };
    for (;;) {
      let response;
      try {
        response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal });
      } catch (problem) {
        if (problem.name === "AbortError") throw problem;
        throw new Failure(0, "The server does not answer.");
      }
      if (response.ok) return response;
      if (response.status !== 429) throw new Failure(response.status, await messageOf(response));
      await pause(Number(response.headers.get("Retry-After")) || 1, signal);
    }
  }

  async json(path, body, signal) { return (await this.fetch(path, body, signal)).json(); }

  // events yields the events of a stream.
  async * events(path, body, signal) {
    const reader = (await this.fetch(path, body, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Failure(0, "The answer ended early.");
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        const data = event.replace(/^data: /, "");
        if (data === "[DONE]") return;
        const parsed = JSON.parse(data);
        if (parsed.error) throw new Failure(500, parsed.error.message);
        yield parsed;
      }
    }
  }
}

async function messageOf(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return `The server answers with status ${response.status}.`;
  }
}
