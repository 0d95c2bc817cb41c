import { Link } from 'react-router-dom';

export function NotFound() {
  return (
    <div className="py-24 text-center">
      <h1 className="font-serif text-4xl font-bold">This page was not written yet.</h1>
      <Link to="/" className="mt-4 inline-block text-lime-800 underline dark:text-lime-400">
        Read another one
      </Link>
    </div>
  );
}
