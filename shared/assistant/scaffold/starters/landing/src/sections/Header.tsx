import { Menu, X } from 'lucide-react'
import { useState } from 'react'
import { links } from '../content'

export function Header() {
  const [open, setOpen] = useState(false)
  return (
    <header className="absolute inset-x-0 top-0 z-10 text-night-50">
      <div className="wrap flex h-20 items-center justify-between">
        <a href="#" className="flex items-center gap-3 text-lg font-semibold">
          <img src="/owl.svg" alt="" className="size-9 rounded-xl ring-1 ring-white/15" /> Nightowl
        </a>
        <nav className="hidden gap-8 text-sm text-night-300 md:flex">
          {links.map((link) => (
            <a key={link.href} href={link.href} className="hover:text-white">
              {link.label}
            </a>
          ))}
        </nav>
        <a href="#waitlist" className="button max-md:hidden">
          Start free
        </a>
        <button className="p-2 md:hidden" aria-label="Menu" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? <X /> : <Menu />}
        </button>
      </div>
      {open && (
        <nav className="wrap md:hidden">
          <div className="grid gap-1 rounded-2xl bg-night-900 p-3 shadow-xl ring-1 ring-white/10">
            {links.map((link) => (
              <a key={link.href} href={link.href} onClick={() => setOpen(false)} className="rounded-lg px-4 py-3 hover:bg-white/5">
                {link.label}
              </a>
            ))}
          </div>
        </nav>
      )}
    </header>
  )
}
