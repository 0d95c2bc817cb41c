import { useState } from "react";
import { format } from "date-fns";
import { CalendarDays } from "lucide-react";
import type { DateRange } from "react-day-picker";
import { Button } from "@/components/ui/button";
import { Calendar } from "@/components/ui/calendar";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";

export function DateRangePicker() {
  const [range, setRange] = useState<DateRange | undefined>({ from: new Date(2026, 9, 1), to: new Date(2026, 9, 28) });
  return (
    <Popover>
      <PopoverTrigger asChild>
        <Button variant="outline" size="sm">
          <CalendarDays />
          {range?.from ? format(range.from, "d MMM") : "Start"} – {range?.to ? format(range.to, "d MMM yyyy") : "end"}
        </Button>
      </PopoverTrigger>
      <PopoverContent className="w-auto p-0">
        <Calendar mode="range" defaultMonth={range?.from} selected={range} onSelect={setRange} />
      </PopoverContent>
    </Popover>
  );
}
