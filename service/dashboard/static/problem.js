// Requests to the service, and its problem+json answers as sentences.

export class Problem extends Error {
  constructor(message, { status, rule, faults = [] } = {}) {
    super(message);
    this.status = status;
    this.rule = rule;
    this.faults = faults;
  }
}

export async function post(path, body, method = "POST") {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const { text, location } = await send(path, method, "application/json", content);
  return { answer: parsed(text), location };
}

// Sends a file; the answer is a part of a page.
export async function upload(path, file) {
  return (await send(path, "POST", "application/octet-stream", file)).text;
}

async function send(path, method, type, body) {
  let response;
  let text;
  try {
    response = await fetch(path, { method, headers: { "Content-Type": type, Accept: "application/json" }, body });
    text = await response.text();
  } catch {
    throw new Problem("The service does not answer. Is it still running?");
  }
  if (!response.ok) throw explain(parsed(text), response.status);
  return { text, location: response.headers.get("Location") };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {}; // told by its status alone
  }
}

function explain(answer, status) {
  const faults = answer.errors ?? [];
  const rule = answer.rule ? ` (rule ${answer.rule})` : "";
  const lines = [(answer.detail ?? answer.title ?? `The service answered ${status}.`) + rule];
  for (const fault of faults) {
    if (!lines[0].includes(fault.message)) lines.push(`${fault.field.replace(/^body\./, "")}: ${fault.message}`);
  }
  return new Problem(lines.join("\n"), { status, rule: answer.rule, faults });
}
