import { Search } from 'lucide-react'
import { useState } from 'react'
import type { Conversation } from '../types'
import { Face } from './Face'
import { ThemeSwitch } from './ThemeSwitch'

interface SidebarProps {
  conversations: Conversation[]
  active: string
  onOpen: (id: string) => void
}

export function Sidebar({ conversations, active, onOpen }: SidebarProps) {
  const [search, setSearch] = useState('')
  const shown = conversations.filter((item) => item.name.toLowerCase().includes(search.toLowerCase()))
  return (
    <aside className="flex h-full w-80 flex-col border-r border-base-300 bg-base-200">
      <div className="flex items-center justify-between p-5 pb-3">
        <h1 className="flex items-center gap-2.5 text-xl font-bold tracking-tight">
          <img src="/wave.svg" alt="" className="size-8" /> Murmur
        </h1>
        <ThemeSwitch />
      </div>
      <div className="px-4 pb-2">
        <label className="input w-full">
          <Search className="size-4 opacity-50" />
          <input type="search" placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
        </label>
      </div>
      <ul className="menu w-full flex-1 flex-nowrap gap-1 overflow-y-auto p-3">
        {shown.map((item) => (
          <li key={item.id}>
            <button className={`gap-3 py-2.5 ${item.id === active ? 'bg-base-100 shadow-sm' : ''}`} onClick={() => onOpen(item.id)}>
              <Face {...item} />
              <span className="min-w-0 flex-1 text-left">
                <span className="block font-semibold">{item.name}</span>
                <span className="block truncate text-xs opacity-60">{item.messages.at(-1)?.text ?? 'Say hello'}</span>
              </span>
              {item.unread > 0 && <span className="badge badge-sm badge-primary">{item.unread}</span>}
            </button>
          </li>
        ))}
        {shown.length === 0 && <li className="p-6 text-center opacity-60">Nobody by this name.</li>}
      </ul>
    </aside>
  )
}
