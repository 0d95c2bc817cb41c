import Markdown from 'react-markdown';
import rehypeSlug from 'rehype-slug';
import remarkGfm from 'remark-gfm';

export function Prose({ children }: { children: string }) {
  return (
    <div className="prose prose-stone prose-lg mt-10 max-w-none prose-headings:font-serif prose-h2:tracking-tight prose-code:rounded prose-code:bg-stone-200/60 prose-code:px-1 prose-code:before:content-none prose-code:after:content-none dark:prose-invert dark:prose-code:bg-stone-800">
      <Markdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[rehypeSlug]}
        components={{
          a: ({ href = '', children }) => (
            <a href={href} {...(href.startsWith('http') && { target: '_blank', rel: 'noreferrer' })}>
              {children}
            </a>
          ),
          table: ({ children }) => (
            <div className="overflow-x-auto">
              <table>{children}</table>
            </div>
          ),
        }}
      >
        {children}
      </Markdown>
    </div>
  );
}
