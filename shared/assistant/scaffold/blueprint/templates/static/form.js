/** What a form holds, as it is sent. */
export function read(data) {
  return {
<%- range .Inputs %>
<%- if eq .Type "boolean" %>
    <% .Key %>: data.has('<% .Key %>'),
<%- else if eq .Type "number" %>
    <% .Key %>: data.get('<% .Key %>') ? Number(data.get('<% .Key %>')) : null,
<%- else if eq .Type "password" %>
    <% .Key %>: data.get('<% .Key %>') ?? '',
<%- else %>
    <% .Key %>: (data.get('<% .Key %>') ?? '').trim(),
<%- end %>
<%- end %>
  };
}

/** What is wrong with values, a message a field; empty if nothing is. */
export function validate(values) {
  const found = {};
<% .Checks "found" "null" ";" %>
  return found;
}

/** Checks the form before it is sent, and sends it without leaving the page. Without JavaScript the browser does both in its own way. */
export function enhance(form) {
  const button = form.querySelector('[type="submit"]');
  const status = form.querySelector('[role="status"]');
  form.noValidate = true;

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const values = read(new FormData(form));
    const found = validate(values);
    showProblems(form, found);
    if (Object.keys(found).length > 0) {
      form.querySelector('[aria-invalid="true"]').focus();
      return;
    }
    button.disabled = true;
    status.textContent = <% js .Text.Busy %>;
    try {
      const response = await fetch(form.action, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(values),
      });
      if (!response.ok) throw new Error(`${form.action} answered ${response.status}`);
      form.reset();
      status.textContent = <% js .Text.Done %>;
    } catch {
      status.textContent = <% js .Text.Failed %>;
    } finally {
      button.disabled = false;
    }
  });
}

function showProblems(form, found) {
  for (const message of form.querySelectorAll('.error')) {
    const field = form.querySelector(`[aria-describedby="${message.id}"]`);
    field.setAttribute('aria-invalid', String(field.name in found));
    message.textContent = found[field.name] ?? '';
    message.hidden = !(field.name in found);
  }
}
