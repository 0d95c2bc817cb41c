import { ArrowLeft } from 'lucide-react';
import { useEffect } from 'react';
import { Link, useParams } from 'react-router-dom';
import { Prose } from '../components/Prose';
import { formatDate, posts } from '../lib/posts';
import { NotFound } from './NotFound';

export function Post() {
  const { slug } = useParams();
  const index = posts.findIndex((post) => post.slug === slug);
  const post = posts[index];

  useEffect(() => {
    window.scrollTo(0, 0);
    document.title = post ? `${post.title} – Field Notes` : 'Field Notes';
    return () => {
      document.title = 'Field Notes';
    };
  }, [post]);

  if (!post) return <NotFound />;
  const older = posts[index + 1];
  return (
    <>
      <Link to="/" className="mt-4 inline-flex items-center gap-2 text-sm text-stone-500 hover:text-lime-800 dark:hover:text-lime-400">
        <ArrowLeft size={16} /> All notes
      </Link>
      <header className="mt-8">
        <h1 className="font-serif text-4xl font-bold leading-tight tracking-tight sm:text-5xl">{post.title}</h1>
        <p className="mt-4 flex flex-wrap items-center gap-3 text-sm text-stone-500">
          {formatDate(post.date)}
          {post.tags.map((tag) => (
            <Link key={tag} to={`/?tag=${tag}`} className="tag">
              {tag}
            </Link>
          ))}
        </p>
      </header>
      <Prose>{post.body}</Prose>
      {older && (
        <Link to={`/post/${older.slug}`} className="mt-14 block rounded-2xl border border-stone-200 p-6 hover:border-lime-700 dark:border-stone-800">
          <span className="text-sm text-stone-500">Before this one</span>
          <span className="mt-1 block font-serif text-xl font-bold">{older.title}</span>
        </Link>
      )}
    </>
  );
}
