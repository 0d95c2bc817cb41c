import { computed, ref } from 'vue'
import { defineStore } from 'pinia'

<%- if .TS %>

export interface <% .Type %> {
  id: string
<%- range .Inputs %>
  <% .Key %><% if not .Required %>?<% end %>: <% $.TypeOf . %>
<%- end %>
}
<%- end %>

export const <% .Fn %> = defineStore('<% .Class %>', () => {
  const <% .Many %> = ref<% if .TS %><<% .Type %>[]><% end %>([])
  const isLoading = ref(false)
  const failure = ref<% if .TS %><Error | null><% end %>(null)
  const count = computed(() => <% .Many %>.value.length)

  async function load() {
    isLoading.value = true
    failure.value = null
    try {
      <% .Many %>.value = await send('', 'GET')
    } catch (cause) {
      failure.value = cause<% if .TS %> as Error<% end %>
    } finally {
      isLoading.value = false
    }
  }

  async function add(values<% if .TS %>: Omit<<% .Type %>, 'id'><% end %>)<% if .TS %>: Promise<<% .Type %>><% end %> {
    const added = await send('', 'POST', values)
    <% .Many %>.value.push(added)
    return added
  }

  async function remove(id<% if .TS %>: string<% end %>) {
    await send(`/${encodeURIComponent(id)}`, 'DELETE')
    <% .Many %>.value = <% .Many %>.value.filter((<% .One %>) => <% .One %>.id !== id)
  }

  return { <% .Many %>, isLoading, failure, count, load, add, remove }
})

async function send(path<% if .TS %>: string<% end %>, method<% if .TS %>: string<% end %>, body<% if .TS %>?: unknown<% end %>) {
  const response = await fetch(`<% .API %>${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`<% .API %>${path} answered ${response.status}`)
  return response.status === 204 ? undefined : response.json()
}
