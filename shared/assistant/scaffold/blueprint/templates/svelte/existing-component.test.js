// @vitest-environment jsdom
import { render } from '@testing-library/svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import Subject from <% js .Part.Import %>;

beforeEach(() => {
  vi.stubGlobal('fetch', vi.fn(async () => Response.json([])));
});
afterEach(() => vi.unstubAllGlobals());

test('<% .Title %> renders', () => {
  const { container } = render(Subject, {<% with .Inputs %> <% $.One %>: <% $.Record 1 %> <% end %>});

  expect(container.innerHTML).not.toBe('');
});

test('<% .Title %> names every field and button for screen readers', () => {
  const { container } = render(Subject, {<% with .Inputs %> <% $.One %>: <% $.Record 1 %> <% end %>});

  for (const field of container.querySelectorAll<% if .TS %><HTMLInputElement><% end %>('input:not([type="hidden"]), select, textarea')) {
    expect(field.labels?.length || field.getAttribute('aria-label') || field.getAttribute('aria-labelledby'), field.outerHTML).toBeTruthy();
  }
  for (const button of container.querySelectorAll('button')) {
    expect(button.textContent<% if .TS %>?<% end %>.trim() || button.getAttribute('aria-label') || button.getAttribute('aria-labelledby'), button.outerHTML).toBeTruthy();
  }
});
