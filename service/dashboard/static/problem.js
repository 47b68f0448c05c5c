// Requests to the service, and its problem+json answers as sentences.

export class Problem extends Error {
  constructor(message, { status, rule, fields = [] } = {}) {
    super(message);
    this.status = status;
    this.rule = rule;
    this.fields = fields;
  }
}

export async function post(path, body, method = "POST") {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem("The service does not answer. Is it still running?");
  }
  let answer = {};
  try {
    answer = JSON.parse(await response.text());
  } catch {
    // An answer without JSON is told by its status alone.
  }
  if (!response.ok) throw explain(answer, response.status);
  return { answer, location: response.headers.get("Location") };
}

function explain(answer, status) {
  const faults = answer.errors ?? [];
  const rule = answer.rule ? ` (rule ${answer.rule})` : "";
  const lines = [(answer.detail ?? answer.title ?? `The service answered ${status}.`) + rule];
  for (const fault of faults) {
    if (!lines[0].includes(fault.message)) lines.push(`${fault.field.replace(/^body\./, "")}: ${fault.message}`);
  }
  // A fault of a list's entry is one of the field that has the list.
  const fields = faults.map((fault) => fault.field.replace(/\.\d+(\..*)?$/, "").split(".").at(-1));
  return new Problem(lines.join("\n"), { status, rule: answer.rule, fields });
}
