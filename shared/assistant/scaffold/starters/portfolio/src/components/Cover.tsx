import type { Project } from '../projects'

const shapes: Record<Project['pattern'], (i: number, color: string) => React.ReactNode> = {
  arches: (i, color) => <path key={i} d={`M${20 + (i % 4) * 95} 270v-${60 + (i % 3) * 50}a38 38 0 0 1 76 0v${60 + (i % 3) * 50}Z`} fill={color} />,
  grid: (i, color) => <rect key={i} x={20 + (i % 4) * 95} y={20 + Math.floor(i / 4) * 90} width={i % 3 ? 76 : 38} height={70} rx={i % 2 ? 35 : 4} fill={color} />,
  waves: (i, color) => (
    <path key={i} d={`M0 ${40 + i * 22}q50-${60 - i * 5} 100 0t100 0 100 0 100 0`} fill="none" stroke={color} strokeWidth={2 + i * 0.6} />
  ),
  dots: (i, color) => <circle key={i} cx={50 + (i % 4) * 100} cy={55 + Math.floor(i / 4) * 90} r={20 + ((i * 7) % 20)} fill={color} />,
}

export function Cover({ project }: { project: Project }) {
  const [ground, light, dark] = project.palette
  return (
    <svg viewBox="0 0 400 270" className="block w-full" role="img" aria-label={`Cover of ${project.title}`} preserveAspectRatio="xMidYMid slice">
      <rect width="400" height="270" fill={ground} />
      {Array.from({ length: 12 }, (_, i) => shapes[project.pattern](i, i % 3 === 1 ? dark : light))}
    </svg>
  )
}
