export function ProgressRing({ done, total }: { done: number; total: number }) {
  const length = 2 * Math.PI * 26;
  const part = total === 0 ? 0 : done / total;
  return (
    <div className="relative h-16 w-16" role="img" aria-label={`${done} of ${total} done`}>
      <svg viewBox="0 0 60 60" className="-rotate-90">
        <circle cx="30" cy="30" r="26" className="fill-none stroke-violet-200/70 stroke-[6] dark:stroke-white/10" />
        <circle
          cx="30"
          cy="30"
          r="26"
          className="fill-none stroke-violet-500 stroke-[6] transition-all duration-500"
          strokeLinecap="round"
          strokeDasharray={length}
          strokeDashoffset={length * (1 - part)}
        />
      </svg>
      <span className="absolute inset-0 grid place-items-center text-sm font-semibold">
        {done}/{total}
      </span>
    </div>
  );
}
