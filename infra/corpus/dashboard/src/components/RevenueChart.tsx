import { useState } from "react";
import { Area, AreaChart, CartesianGrid, XAxis, YAxis } from "recharts";
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { ChartContainer, ChartTooltip, ChartTooltipContent } from "@/components/ui/chart";
import { ToggleGroup, ToggleGroupItem } from "@/components/ui/toggle-group";
import { revenue } from "@/data/sample";
import { money } from "@/lib/utils";

export function RevenueChart() {
  const [months, setMonths] = useState("10");
  return (
    <Card className="lg:col-span-2">
      <CardHeader className="flex-row flex-wrap items-start justify-between gap-3 space-y-0">
        <div className="space-y-1.5">
          <CardTitle>Revenue and expenses</CardTitle>
          <CardDescription>By month, in US dollars</CardDescription>
        </div>
        <ToggleGroup type="single" value={months} onValueChange={(value) => value && setMonths(value)}>
          <ToggleGroupItem value="3">3 m</ToggleGroupItem>
          <ToggleGroupItem value="6">6 m</ToggleGroupItem>
          <ToggleGroupItem value="10">All</ToggleGroupItem>
        </ToggleGroup>
      </CardHeader>
      <CardContent>
        <ChartContainer>
          <AreaChart data={revenue.slice(-Number(months))} margin={{ left: -8, right: 8, top: 8 }}>
            <defs>
              <linearGradient id="revenue-fill" x1="0" y1="0" x2="0" y2="1">
                <stop offset="0%" stopColor="hsl(var(--chart-1))" stopOpacity={0.35} />
                <stop offset="100%" stopColor="hsl(var(--chart-1))" stopOpacity={0.02} />
              </linearGradient>
            </defs>
            <CartesianGrid vertical={false} strokeDasharray="3 4" />
            <XAxis dataKey="month" axisLine={false} tickLine={false} tickMargin={8} />
            <YAxis axisLine={false} tickLine={false} tickFormatter={(value) => `$${value / 1000}k`} />
            <ChartTooltip content={<ChartTooltipContent format={money} />} />
            <Area type="monotone" dataKey="revenue" stroke="hsl(var(--chart-1))" strokeWidth={2} fill="url(#revenue-fill)" />
            <Area type="monotone" dataKey="expenses" stroke="hsl(var(--chart-2))" strokeWidth={2} fill="transparent" />
          </AreaChart>
        </ChartContainer>
      </CardContent>
    </Card>
  );
}
