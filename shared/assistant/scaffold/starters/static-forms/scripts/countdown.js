export function startCountdown(target, box) {
  function tick() {
    const minutes = Math.max(0, Math.floor((target - Date.now()) / 60_000));
    const parts = { days: Math.floor(minutes / 1440), hours: Math.floor(minutes / 60) % 24, minutes: minutes % 60 };
    for (const [unit, value] of Object.entries(parts)) {
      box.querySelector(`[data-unit=${unit}]`).textContent = value;
    }
  }
  tick();
  return setInterval(tick, 10_000);
}
