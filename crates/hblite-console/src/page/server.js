// Requests to the server, the token for changes, and the addresses of pages.

// The token arrives in the fragment of the address, which browsers do not send, and is removed.
const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
if (given) {
  sessionStorage.setItem("token", given[1]);
  history.replaceState(null, "", "#/overview");
}

export const token = {
  get: () => sessionStorage.getItem("token") ?? "",
  set: (text) => sessionStorage.setItem("token", text.trim()),
};

async function answerOf(response) {
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(answer.error ?? `the server answered ${response.status}`);
    error.status = response.status;
    throw error;
  }
  return answer;
}

/// The query of an address, without parameters that are not set.
export const queryOf = (parameters) => new URLSearchParams(
  Object.entries(parameters).filter(([, value]) => value !== "" && value !== undefined)).toString();

/// Asks for something that changes nothing.
export async function ask(call, parameters = {}) {
  let response;
  try {
    response = await fetch(`api/${call}?${queryOf(parameters)}`);
  } catch {
    throw new Error("the server does not answer");
  }
  return answerOf(response);
}

/// Asks for something that needs the token.
export async function change(call, body) {
  const headers = { "Content-Type": "application/json", "X-Hblite-Token": token.get() };
  return answerOf(await fetch(`api/${call}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

export const link = (page, parameters = {}) => {
  const query = queryOf(parameters);
  return `#/${page}${query && `?${query}`}`;
};
