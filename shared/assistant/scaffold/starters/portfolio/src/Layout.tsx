import { motion, useScroll, useSpring } from 'framer-motion'
import { NavLink, Outlet, ScrollRestoration } from 'react-router-dom'
import { ThemeButton } from './components/ThemeButton'

export function Layout() {
  const { scrollYProgress } = useScroll()
  const scaleX = useSpring(scrollYProgress, { stiffness: 200, damping: 40 })
  return (
    <div className="mx-auto flex min-h-dvh max-w-6xl flex-col px-5 sm:px-10">
      <motion.div className="fixed inset-x-0 top-0 z-10 h-0.5 origin-left bg-signal" style={{ scaleX }} />
      <header className="flex items-center justify-between py-8">
        <NavLink to="/" className="flex items-center gap-3" aria-label="Home">
          <img src="/n.svg" alt="" className="size-8" />
        </NavLink>
        <nav className="flex items-center gap-6">
          <NavLink to="/" className="link pb-0.5">
            Work
          </NavLink>
          <NavLink to="/about" className="link pb-0.5">
            About
          </NavLink>
          <ThemeButton />
        </nav>
      </header>
      <main className="flex-1">
        <Outlet />
      </main>
      <footer className="mt-24 flex flex-wrap justify-between gap-4 border-t border-rule py-8 text-faint">
        <a href="mailto:hello@noa.example" className="link text-text">
          hello@noa.example
        </a>
        <span>Gothenburg, 57.7° N</span>
      </footer>
      <ScrollRestoration />
    </div>
  )
}
