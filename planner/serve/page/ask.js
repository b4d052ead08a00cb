// Questions to the server. Of several answers asked for in a row only the last is shown.
export class Refused extends Error {
  constructor(error, status) {
    super(error.text);
    this.key = error.key;
    this.status = status;
  }
}

export async function ask(name, question, signal) {
  let reply;
  try {
    reply = await fetch(`/api/${name}`, {
      method: "POST", signal, headers: { "content-type": "application/json" }, body: JSON.stringify(question),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ text: "The server does not answer: is hfl-plan serve still running? Nothing you typed is lost.", key: "" }, 0);
  }
  const found = await reply.json();
  if (!reply.ok) throw new Refused(found.error, reply.status);
  return found;
}

// Runs one request at a time; what comes while it runs is run after it, and only the last of that.
export class Latest {
  constructor(run) {
    this.run = run;
    this.busy = false;
    this.again = false;
  }

  // Whether this call waited for the last answer of all.
  async go() {
    if (this.busy) {
      this.again = true;
      return false;
    }
    this.busy = true;
    do {
      this.again = false;
      await this.run();
    } while (this.again);
    this.busy = false;
    return true;
  }
}
