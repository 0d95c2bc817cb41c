import { BedDouble, Mountain } from 'lucide-react';
import { useState } from 'react';
import { HutMap } from './components/HutMap';
import { huts } from './data/huts';

function App() {
  const [selected, setSelected] = useState<string | null>(null);
  const [openOnly, setOpenOnly] = useState(false);
  const shown = huts.filter((hut) => !openOnly || hut.open);

  return (
    <div className="flex h-screen flex-col md:flex-row">
      <aside className="flex w-full flex-col gap-4 overflow-y-auto bg-white p-6 md:w-80">
        <h1 className="text-2xl font-bold leading-tight text-emerald-950">Huts of the Silver Ridge</h1>
        <label className="flex items-center gap-2 text-sm text-slate-600">
          <input type="checkbox" checked={openOnly} onChange={(event) => setOpenOnly(event.target.checked)} className="accent-emerald-700" />
          Open this week
        </label>
        <ul className="space-y-2">
          {shown.map((hut) => (
            <li key={hut.id}>
              <button
                onClick={() => setSelected(hut.id)}
                className={`w-full rounded-xl border p-4 text-left transition ${
                  hut.id === selected ? 'border-emerald-700 bg-emerald-50' : 'border-slate-200 hover:border-emerald-300'
                }`}
              >
                <span className="flex justify-between font-medium">
                  {hut.name}
                  {!hut.open && <span className="text-xs text-orange-700">closed</span>}
                </span>
                <span className="mt-1 flex gap-4 text-sm text-slate-500">
                  <span className="flex items-center gap-1">
                    <Mountain size={14} /> {hut.height} m
                  </span>
                  <span className="flex items-center gap-1">
                    <BedDouble size={14} /> {hut.beds}
                  </span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      </aside>
      <main className="min-h-0 flex-1">
        <HutMap shown={shown} selected={selected} onSelect={setSelected} />
      </main>
    </div>
  );
}

export default App;
