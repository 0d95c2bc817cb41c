import { AnimatePresence, motion } from 'framer-motion'
import { useState } from 'react'
import { Link } from 'react-router-dom'
import { Cover } from '../components/Cover'
import { projects } from '../projects'

const kinds = ['All', ...new Set(projects.map((project) => project.kind))]

export function Home() {
  const [kind, setKind] = useState('All')
  const shown = projects.filter((project) => kind === 'All' || project.kind === kind)
  return (
    <>
      <section className="py-12 sm:py-20">
        <h1 className="text-[clamp(3rem,11vw,8.5rem)] leading-[0.92] font-light tracking-tight">
          {'Noa Lindqvist'.split(' ').map((word, index) => (
            <motion.span
              key={word}
              className="mr-[0.22em] inline-block"
              initial={{ y: '0.4em', opacity: 0 }}
              animate={{ y: 0, opacity: 1 }}
              transition={{ duration: 0.9, delay: index * 0.1, ease: [0.16, 1, 0.3, 1] }}
            >
              {word}{' '}
            </motion.span>
          ))}
        </h1>
        <p className="mt-8 max-w-md leading-relaxed text-faint">
          I design signs and systems for places that people get lost in. Independent since 2017.
        </p>
      </section>
      <div className="mb-10 flex flex-wrap gap-x-5 gap-y-2 border-t border-rule pt-4" role="group" aria-label="Kind of work">
        {kinds.map((name) => (
          <button key={name} onClick={() => setKind(name)} aria-pressed={name === kind} className={name === kind ? 'text-signal' : 'text-faint hover:text-text'}>
            {name}
          </button>
        ))}
      </div>
      <div className="grid gap-x-8 gap-y-14 sm:grid-cols-2">
        <AnimatePresence mode="popLayout">
          {shown.map((project, index) => (
            <motion.article
              layout
              key={project.slug}
              initial={{ opacity: 0, y: 24 }}
              animate={{ opacity: 1, y: 0 }}
              exit={{ opacity: 0 }}
              transition={{ delay: index * 0.06 }}
              className="group sm:even:mt-16"
            >
              <Link to={`/work/${project.slug}`}>
                <div className="overflow-hidden transition-[border-radius] duration-500 group-hover:rounded-[3rem]">
                  <Cover project={project} />
                </div>
                <div className="mt-4 flex items-baseline justify-between gap-4">
                  <h2 className="text-2xl">{project.title}</h2>
                  <span className="text-faint">{project.year}</span>
                </div>
                <p className="mt-1 text-faint">{project.kind}</p>
              </Link>
            </motion.article>
          ))}
        </AnimatePresence>
      </div>
    </>
  )
}
