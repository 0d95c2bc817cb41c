import * as React from "react";
import { ResponsiveContainer, Tooltip } from "recharts";
import { cn } from "@/lib/utils";

export function ChartContainer({ className, children }: { className?: string; children: React.ReactElement }) {
  return (
    <div
      className={cn(
        "h-64 w-full text-xs [&_.recharts-cartesian-axis-tick_text]:fill-muted-foreground [&_.recharts-cartesian-grid_line]:stroke-border [&_.recharts-surface]:outline-none",
        className,
      )}
    >
      <ResponsiveContainer width="100%" height="100%">
        {children}
      </ResponsiveContainer>
    </div>
  );
}

interface TooltipPayload {
  active?: boolean;
  label?: string;
  payload?: { name: string; value: number; color?: string }[];
  format?: (value: number) => string;
}

export function ChartTooltipContent({ active, label, payload, format = String }: TooltipPayload) {
  if (!active || !payload?.length) return null;
  return (
    <div className="grid gap-1.5 rounded-md border bg-popover px-3 py-2 text-xs shadow-lg">
      <p className="font-medium">{label}</p>
      {payload.map((item) => (
        <p key={item.name} className="flex items-center gap-2">
          <span className="size-2 rounded-full" style={{ background: item.color }} />
          <span className="capitalize text-muted-foreground">{item.name}</span>
          <span className="ml-auto pl-4 font-medium">{format(item.value)}</span>
        </p>
      ))}
    </div>
  );
}

export const ChartTooltip = Tooltip;
