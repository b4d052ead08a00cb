// Questions to the server. Of several answers asked for in a row only the last is shown.
export class Refused extends Error {
  constructor(error) {
    super(error.text);
    this.key = error.key;
  }
}

export async function ask(name, question, signal) {
  let reply, found;
  try {
    reply = await fetch(`/api/${name}`, {
      method: "POST", signal, headers: { "content-type": "application/json" }, body: JSON.stringify(question),
    });
    found = await reply.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ text: "The server does not answer: is hfl-plan serve still running? Nothing you typed is lost.", key: "" });
  }
  if (!reply.ok) throw new Refused(found.error);
  return found;
}

// Runs one request at a time; what comes while it runs is run after it, and only the last of that.
export class Latest {
  constructor(run) {
    Object.assign(this, { run, again: false, running: null });
  }

  // Resolves with the last answer of all.
  go() {
    this.again = true;
    return (this.running ??= this.all());
  }

  async all() {
    try {
      while (this.again) {
        this.again = false;
        await this.run();
      }
    } finally {
      this.running = null;
    }
  }
}
