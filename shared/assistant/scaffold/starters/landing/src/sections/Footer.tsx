export function Footer() {
  return (
    <footer className="border-t border-night-100 py-10 text-sm text-night-500 dark:border-white/10 dark:text-night-300">
      <div className="wrap flex flex-wrap justify-between gap-4">
        <p>© {new Date().getFullYear()} Nightowl. A sample company.</p>
        <p>Made for people with pagers.</p>
      </div>
    </footer>
  )
}
