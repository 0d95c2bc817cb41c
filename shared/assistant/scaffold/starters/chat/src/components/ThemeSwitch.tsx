import { Moon, Sun } from 'lucide-react'
import { useEffect, useState } from 'react'

export function ThemeSwitch() {
  const [dark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    document.documentElement.dataset.theme = dark ? 'depth' : 'tide'
  }, [dark])
  return (
    <label className="swap swap-rotate btn btn-circle btn-ghost btn-sm" aria-label="Dark theme">
      <input type="checkbox" checked={dark} onChange={(event) => setDark(event.target.checked)} />
      <Sun className="swap-off size-5" />
      <Moon className="swap-on size-5" />
    </label>
  )
}
