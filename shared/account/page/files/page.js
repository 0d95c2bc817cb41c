"use strict";

// Sends the token of a link when the user presses a button, and shows the response. The token is in the fragment of the
// address. The script removes it from there, so that it does not stay in the address bar and in the history.
(() => {
  const forms = [...document.querySelectorAll("form")];
  const status = document.querySelector("#status");
  const password = document.querySelector("#password");
  const repeated = document.querySelector("#repeated");
  let token = "";

  const show = (text, isError) => {
    status.textContent = text;
    status.className = isError ? "error" : "";
    status.focus();
  };

  const readToken = () => {
    if (!location.hash) return;
    token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
    history.replaceState(null, "", location.pathname + location.search);
  };

  // send returns the response of the service. Its field error is set if the request failed.
  const send = async (form) => {
    const body = { token };
    if ("reject" in form.dataset) body.reject = true;
    if (password) body.password = password.value;
    try {
      const response = await fetch(form.dataset.path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      const result = await response.json();
      if (response.ok) return result;
      if (response.status === 401) {
        return { error: "Log in to the service in another tab of this browser first. Then press the button again." };
      }
      return { error: result.error || "The service reported an error. Try again later." };
    } catch {
      return { error: "The service did not respond. Check your connection, and try again." };
    }
  };

  // fill writes the values of a result into the elements that name them, such as "workspace.name".
  const fill = (form, result) => {
    for (const element of form.querySelectorAll("[data-value]")) {
      element.textContent = element.dataset.value.split(".").reduce((value, name) => value?.[name], result) ?? "";
    }
  };

  const submit = async (form) => {
    const buttons = document.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    const result = await send(form);
    for (const button of buttons) button.disabled = false;
    if (result.error) {
      show(result.error, true);
      return;
    }
    for (const each of forms) each.hidden = true;
    const next = form.dataset.next && document.getElementById(form.dataset.next);
    if (!next) {
      token = "";
      show(form.dataset.done ?? result.message ?? "Done.");
      return;
    }
    show("");
    fill(next, result);
    next.hidden = false;
    next.querySelector("button").focus();
  };

  for (const form of forms) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(form);
    });
  }
  if (password) {
    const compare = () => {
      repeated.setCustomValidity(password.value === repeated.value ? "" : "The two passwords differ.");
    };
    password.addEventListener("input", compare);
    repeated.addEventListener("input", compare);
  }

  const start = () => {
    readToken();
    if (token) return;
    for (const form of forms) form.hidden = true;
    show("The link is not complete. Open the link in the mail again, or copy all of it.", true);
  };
  start();
  // A second link that is opened in the same tab changes only the fragment.
  addEventListener("hashchange", () => location.hash && location.reload());
})();
