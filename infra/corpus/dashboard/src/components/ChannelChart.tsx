import { Bar, BarChart, XAxis, YAxis } from "recharts";
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from "@/components/ui/card";
import { ChartContainer, ChartTooltip, ChartTooltipContent } from "@/components/ui/chart";
import { channels } from "@/data/sample";

export function ChannelChart() {
  return (
    <Card>
      <CardHeader>
        <CardTitle>Where visitors come from</CardTitle>
        <CardDescription>Visits in October</CardDescription>
      </CardHeader>
      <CardContent>
        <ChartContainer>
          <BarChart data={channels} layout="vertical" margin={{ left: 8 }}>
            <XAxis type="number" hide />
            <YAxis type="category" dataKey="channel" axisLine={false} tickLine={false} width={74} />
            <ChartTooltip cursor={{ fill: "hsl(var(--muted))" }} content={<ChartTooltipContent />} />
            <Bar dataKey="visits" fill="hsl(var(--chart-3))" radius={5} barSize={20} />
          </BarChart>
        </ChartContainer>
      </CardContent>
    </Card>
  );
}
