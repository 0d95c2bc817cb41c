import { useState } from 'react'
import { Sidebar } from './components/Sidebar'
import { Thread } from './components/Thread'
import { useChat } from './state/useChat'

export default function App() {
  const { conversations, active, typing, open, send } = useChat()
  const [drawer, setDrawer] = useState(false)
  const conversation = conversations.find((item) => item.id === active)!

  return (
    <div className="drawer h-dvh lg:drawer-open">
      <input id="list" type="checkbox" className="drawer-toggle" checked={drawer} onChange={(event) => setDrawer(event.target.checked)} />
      <div className="drawer-content flex h-dvh min-w-0 flex-col bg-base-100">
        <Thread key={active} conversation={conversation} typing={typing === active} onSend={send} />
      </div>
      <div className="drawer-side z-10">
        <label htmlFor="list" aria-label="Close the list" className="drawer-overlay" />
        <Sidebar
          conversations={conversations}
          active={active}
          onOpen={(id) => {
            open(id)
            setDrawer(false)
          }}
        />
      </div>
    </div>
  )
}
