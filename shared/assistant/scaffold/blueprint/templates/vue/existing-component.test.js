// @vitest-environment jsdom
import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import Subject from <% js .Part.Import %>

beforeEach(() => {
  vi.stubGlobal('fetch', vi.fn(async () => Response.json([])))
})
afterEach(() => vi.unstubAllGlobals())

test('<% .Title %> renders', async () => {
  const wrapper = mount(Subject, { props: {<% with .Inputs %> <% $.One %>: <% $.Record 1 %> <% end %>} })
  await flushPromises()

  expect(wrapper.html()).not.toBe('')
})

test('<% .Title %> names every field and button for screen readers', async () => {
  const wrapper = mount(Subject, { props: {<% with .Inputs %> <% $.One %>: <% $.Record 1 %> <% end %>}, attachTo: document.body })
  await flushPromises()

  for (const field of wrapper.element.parentElement<% if .TS %>!<% end %>.querySelectorAll<% if .TS %><HTMLInputElement><% end %>('input:not([type="hidden"]), select, textarea')) {
    expect(field.labels?.length || field.getAttribute('aria-label') || field.getAttribute('aria-labelledby'), field.outerHTML).toBeTruthy()
  }
  for (const button of wrapper.findAll('button')) {
    expect(button.text() || button.attributes('aria-label') || button.attributes('aria-labelledby'), button.html()).toBeTruthy()
  }
  wrapper.unmount()
})
