import { useState } from 'react'

export function ThemeButton() {
  const [dark, setDark] = useState(document.documentElement.dataset.theme === 'dark')
  const toggle = () => {
    const theme = dark ? 'light' : 'dark'
    document.documentElement.dataset.theme = theme
    localStorage.theme = theme
    setDark(!dark)
  }
  return (
    <button onClick={toggle} aria-label={dark ? 'Light theme' : 'Dark theme'} className="size-5 rounded-full border border-text p-0.5">
      <span className="block size-full rounded-full bg-text dark:w-1/2 dark:rounded-r-none" />
    </button>
  )
}
