import { effect, signal } from 'signals';

const [visits, setVisits] = signal(Number(localStorage.getItem('visits') ?? 0));
setVisits(visits() + 1);
localStorage.setItem('visits', visits());
effect(() => {
  const target = document.getElementById('visits');
  if (target) target.textContent = `Opened ${visits()} times.`;
});
