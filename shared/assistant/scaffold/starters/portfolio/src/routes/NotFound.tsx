import { Link } from 'react-router-dom'

export function NotFound() {
  return (
    <div className="py-20">
      <h1 className="text-6xl font-light">A wrong turn.</h1>
      <Link to="/" className="link mt-6 inline-block text-signal">
        Back to the work
      </Link>
    </div>
  )
}
