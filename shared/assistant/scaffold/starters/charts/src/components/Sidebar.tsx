const views = ['Overview', 'Revenue', 'Visitors', 'Products']

/** Links to the sections of the page. It is a row on small screens. */
export function Sidebar() {
  return (
    <aside className="border-stone-200 bg-white p-4 lg:sticky lg:top-0 lg:h-screen lg:border-r lg:p-6">
      <p className="flex items-center gap-3 font-semibold tracking-tight">
        <span className="grid size-9 place-items-center rounded-xl bg-teal-700 text-white">H</span> Harbour goods
      </p>
      <nav className="mt-4 flex gap-1 overflow-x-auto text-sm lg:mt-8 lg:flex-col" aria-label="Sections">
        {views.map((name) => (
          <a key={name} href={`#${name.toLowerCase()}`} className="rounded-lg px-3 py-2 text-stone-600 hover:bg-stone-100 hover:text-stone-900">
            {name}
          </a>
        ))}
      </nav>
    </aside>
  )
}
