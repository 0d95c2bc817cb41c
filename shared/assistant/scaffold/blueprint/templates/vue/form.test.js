// @vitest-environment jsdom
import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, expect, test, vi } from 'vitest'
import <% .Part.Name %> from <% js .Part.Import %>

afterEach(() => vi.unstubAllGlobals())

function answer(status<% if .TS %>: number<% end %>) {
  const fetch = vi.fn(async (_address<% if .TS %>: string<% end %>, _options<% if .TS %>: RequestInit<% end %>) => new Response('{}', { status }))
  vi.stubGlobal('fetch', fetch)
  return fetch
}

async function fillIn() {
  const wrapper = mount(<% .Part.Name %>)
<%- range .Inputs %>
  await wrapper.get('[name="<% .Key %>"]').setValue(<% $.Sample . 1 %>)
<%- end %>
  await wrapper.get('form').trigger('submit')
  await flushPromises()
  return wrapper
}
<%- if .HasRequired %>

test('says what is missing and sends nothing', async () => {
  const fetch = answer(200)
  const wrapper = mount(<% .Part.Name %>)

  await wrapper.get('form').trigger('submit')
  await flushPromises()

  expect(wrapper.findAll('[aria-invalid="true"]').map((field) => field.attributes('name'))).toEqual([<% .RequiredKeys %>])
  expect(fetch).not.toHaveBeenCalled()
})
<%- end %>

test('sends what was typed', async () => {
  const fetch = answer(201)
  const wrapper = await fillIn()

  const [address, options] = fetch.mock.calls[0]<% if .TS %>!<% end %>
  expect(address).toBe(<% js .API %>)
  expect(JSON.parse(<% if .TS %>String(options.body)<% else %>options.body<% end %>)).toEqual(<% .Record 1 %>)
  expect(wrapper.get('[role="status"]').text()).not.toBe('')
  expect(wrapper.emitted('saved')).toHaveLength(1)
})

test('says that it did not work', async () => {
  answer(500)
  const wrapper = await fillIn()

  expect(wrapper.get('[role="alert"]').text()).not.toBe('')
  expect(wrapper.emitted('saved')).toBeUndefined()
})

test('names every field for screen readers', () => {
  const wrapper = mount(<% .Part.Name %>)

  for (const field of wrapper.findAll('input, textarea')) {
    expect(wrapper.find(`label[for="${field.attributes('id')}"]`).exists()).toBe(true)
  }
})
