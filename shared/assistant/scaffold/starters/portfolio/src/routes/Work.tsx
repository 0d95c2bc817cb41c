import { motion } from 'framer-motion'
import { Link, useParams } from 'react-router-dom'
import { Cover } from '../components/Cover'
import { projects } from '../projects'
import { NotFound } from './NotFound'

export function Work() {
  const { slug } = useParams()
  const index = projects.findIndex((project) => project.slug === slug)
  if (index < 0) return <NotFound />
  const project = projects[index]
  const next = projects[(index + 1) % projects.length]
  return (
    <motion.div key={slug} initial={{ opacity: 0 }} animate={{ opacity: 1 }}>
      <p className="text-signal">
        {project.kind}, {project.year}
      </p>
      <h1 className="mt-2 text-5xl font-light tracking-tight sm:text-7xl">{project.title}</h1>
      <p className="mt-5 max-w-xl font-display text-xl leading-snug sm:text-2xl">{project.summary}</p>
      <div className="mt-12">
        <Cover project={project} />
      </div>
      <div className="mt-12 grid gap-10 sm:grid-cols-[14rem_1fr]">
        <dl className="space-y-4">
          {Object.entries(project.facts).map(([term, value]) => (
            <div key={term}>
              <dt className="text-faint">{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <div className="max-w-xl space-y-5 font-display text-lg leading-relaxed">
          {project.text.map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
        </div>
      </div>
      <Link to={`/work/${next.slug}`} className="mt-20 block border-t border-rule pt-6 font-display text-3xl hover:text-signal">
        Next: {next.title} →
      </Link>
    </motion.div>
  )
}
