// Questions to the service. The token stays in this tab's session.
import { $ } from "./dom.js";

const key = "vicinity-token";

/** takeToken moves a token out of the address, where others could read it over a shoulder or in the history. */
export function takeToken() {
  const match = location.hash.match(/^#token=([^&]+)/);
  if (!match) return;
  sessionStorage.setItem(key, decodeURIComponent(match[1]));
  history.replaceState(null, "", location.pathname + "#/decisions");
}

let asking;

/** login asks for a token; questions that come meanwhile wait for the same answer. */
function login(problem) {
  asking ??= new Promise((resolve) => {
    const dialog = $("#login");
    $("#login-problem").textContent = problem;
    $("#token").value = "";
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      sessionStorage.setItem(key, $("#token").value.trim());
      asking = undefined;
      resolve();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

/** ask gets /api/v1/path with parameters; empty ones are left out. A signal ends the question. */
export async function ask(path, parameters = {}, signal) {
  const url = new URL("api/v1/" + path, location.href);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== "" && value !== undefined) url.searchParams.set(name, value);
  }
  for (;;) {
    const token = sessionStorage.getItem(key);
    if (!token) {
      await login("");
      continue;
    }
    const response = await fetch(url, { headers: { Authorization: "Bearer " + token }, signal, cache: "no-store" });
    if (response.status === 401) {
      sessionStorage.removeItem(key);
      await login("The cluster does not know that token, or no longer.");
      continue;
    }
    const body = await response.json();
    if (!response.ok) throw new Error(body.error || response.statusText);
    return body;
  }
}
